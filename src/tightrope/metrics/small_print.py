"""How the sentences on the risk of one person are meant, what they assume, and what they do not cover."""

from __future__ import annotations

from collections.abc import Sequence

from ..bound import Bound
from ..calls import shortened
from ..mechanisms.base import Mechanism, leaves
from ..relation import Direction, Relation
from ..transforms.group import group_sizes
from ..transforms.terms import terms_of

AVERAGES = (
    "Counts are averages over the random choices of the algorithm, where {wrong} with the same chance.",
    "The chance that a person {case} is the attacker's own, from all that was known before the release.",
    (
        "Where a record is guessed, the attacker knows how likely each record is, and not which one it is. A guess "
        "that comes close may count as right, if both chances count it so."
    ),
)
SHARP = (
    "The number for a guessed record is a limit. The others are sharp: in the worst case that the description of the "
    "run allows, an attacker reaches each of them but for two in its last digit."
)
BLUNT = "The numbers are limits. Real attackers may reach less; how much less is not known of all of them."
LATE = "Time ran out: the numbers hold, and more time may lower them."
TAKEN = "Counts that were measured are taken for the true chances; how far they mislead is not known."

KNOWS = (
    "The attacker knows the algorithm with all settings, the records of all other people, and {case}: all but the "
    "random choices that were made, and {unknown}. An attacker who knows less does no better."
)
ONE_IN = "A person has one record, which is in the data or not; whoever has more of them risks more: group(size)."
GROUP_IN = "A person has up to {size} records, which are all in the data or all not."
ONE_OF_TWO = (
    "A person has one record in the data, which is A or B: any two that a person may have. Whoever has more of them "
    "risks more: group(size)."
)
GROUP_OF_TWO = "A person has up to {size} records in the data, which are those of A or those of B: any two such sets."
PARTS_DIFFER = "A person has as many records as each part of the run says with group(size)."
OPEN = (
    "The run is described for a record that is in the data or not. If its parameters are those for a record that is "
    "replaced by another, read 'is in the data' as 'has the record A' and 'is not' as 'has the record B'."
)
AS_DESCRIBED = "The algorithm does what the run describes, and nothing else is told to anybody."

ELSEWHERE = (
    "Other releases from the same data: together they tell more. They belong into the same run.",
    (
        "What the release tells about people in general, or about a person through the records of others, such as "
        "relatives: that is told whether or not the person takes part."
    ),
    "What is found out about a person without the release.",
)
RARER = "An attacker who {accuses} fewer people than the sentences say may be surer of each of them."


def local(mechanism: Mechanism) -> bool:
    """Whether it is what people report of themselves: about one of two values, whoever takes part."""
    law = mechanism.nameless
    if law.relation is Relation.ADD_REMOVE or law.sizes or any(leaf.section != "local" for leaf in leaves(law)):
        return False
    return terms_of(law, Direction.REMOVE) == terms_of(law, Direction.ADD)


def of_values(text: str) -> str:
    """What is said of a replaced record, of a value that its owner reports: there are no data that it is in."""
    return text.replace("record", "value").replace(" in the data", "")


def meant(bounds: Sequence[Bound], replaced: bool, sharp: bool) -> tuple[str, ...]:
    """How to read counts and chances, and how sure they are."""
    wrong = (
        "A is said of each person, if the record is B," if replaced else "each person, if not in the data, is accused"
    )
    case = "has the record A" if replaced else "is in the data"
    notes = [note.format(wrong=wrong, case=case) for note in AVERAGES] + [SHARP if sharp else BLUNT]
    told = [bound.certificate for bound in bounds if bound.certificate is not None]
    if any(each.exhausted is not None for each in told):
        notes.append(LATE)
    if told and told[0].confidence is not None:
        notes.append(TAKEN if told[0].confidence == 0.0 else f"The run was measured, and this {told[0].assurance}.")
    if told and "claimed" in told[0].parameters:
        notes.append(f"All of this rests on {shortened(str(told[0].parameters['claimed']))}.")
    return tuple(notes)


def assumed(mechanism: Mechanism, replaced: bool) -> tuple[str, ...]:
    """Who the attacker is, what a person's data are, and how the run is to be understood."""
    law = mechanism.nameless
    case, unknown = "both A and B", "which of them the person has"
    if not replaced:
        case, unknown = "the person's record", "whether it is in the data"
    sizes = group_sizes(law)
    one, many = (ONE_OF_TWO, GROUP_OF_TWO) if replaced else (ONE_IN, GROUP_IN)
    records = PARTS_DIFFER if len(sizes) > 1 else one if sizes == {1} else many.format(size=max(sizes))
    notes = [KNOWS.format(case=case, unknown=unknown), records]
    if not replaced and law.relation is None and terms_of(law, Direction.REMOVE) == terms_of(law, Direction.ADD):
        notes.append(OPEN)
    return (*notes, AS_DESCRIBED)


def not_covered(fpr: float, replaced: bool) -> tuple[str, ...]:
    """What the numbers do not speak of."""
    rarer = RARER.format(accuses="says A of" if replaced else "accuses")
    return (*([rarer] if fpr else []), *ELSEWHERE)
