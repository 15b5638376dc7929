"""The theorems that transformations rest on, each with the facts that it needs of its base.

Those of upper ends come first: a base that lacks a fact is refused by name. Those of lower ends say when real
neighbours have them; a base that lacks a fact there keeps its upper end, and the answer does not call its lower end
attained. docs/transformations.md has the table, tests/transforms/test_theorems.py a base without each of the facts.
"""

from __future__ import annotations

from ..mechanisms.facts import Fact, Theorem

SAMPLED = (Fact.ADD_REMOVE, Fact.SIZE, Fact.OTHERS)
BATCHED = (Fact.REPLACE, Fact.SIZE, Fact.OTHERS)

DISAGREE = (
    "the parts disagree on what neighbours are (add/remove of a record against replacing one): give them the same "
    "neighbours=, where they take it, or account for each relation on its own"
)
COMPOSITION = Theorem(
    "composition",
    "the product of the pairs of the parts, each for whatever came before it",
    "Zhu, Dong, Wang 2021, Thm 10",
    "facts.md, section 1",
    (Fact.ADD_REMOVE,),
    DISAGREE,
)
COMPOSITION_REPLACED = Theorem(
    "composition",
    "the product of the pairs of the parts where a record is replaced, each its own reverse",
    "Zhu, Dong, Wang 2021, Thm 10, and ours",
    "facts.md, section 1",
    (Fact.REPLACE,),
    DISAGREE,
)
ALL_RECORDS = Theorem(
    "Poisson sampling",
    "with rate 0 or 1 nobody, or everybody, is sampled: the pair of nothing, or that of the base",
    "by definition",
    "poisson.md",
    (Fact.ADD_REMOVE,),
)
POISSON = Theorem(
    "Poisson sampling",
    "((1 - rate) Q + rate P, Q) dominates for remove, its reverse for add",
    "Zhu, Dong, Wang 2021, Thm 11",
    "poisson.md",
    SAMPLED,
)
POISSON_REPLACED = Theorem(
    "Poisson sampling",
    "a replaced record of Gaussian noise M: ((1 - rate) M(0) + rate M(C), (1 - rate) M(0) + rate M(-C)); of other "
    "noise the chain of the sampled remove and add pairs",
    "Zhu, Dong, Wang 2021, Thm 11, and ours",
    "sampling.md, section 5",
    SAMPLED,
)
CAPPED_POISSON = Theorem(
    "Poisson sampling with a cap",
    "the union of the Poisson sample and of that of the base under replacing, by whether the sample is cut",
    "ours",
    "sampling.md, section 6",
    SAMPLED,
)
WITHOUT_REPLACEMENT = Theorem(
    "sampling without replacement",
    "the glued pair at batch/records where a record is replaced, the Poisson sample where one comes or goes",
    "Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Thm 11 and Prop. 30",
    "sampling.md, sections 2 and 3",
    BATCHED,
)
ONE_DRAW = Theorem(
    "sampling with replacement",
    "one draw, or none, is a sample without replacement",
    "by definition",
    "sampling.md, section 4",
    BATCHED,
)
WITH_REPLACEMENT = Theorem(
    "sampling with replacement",
    "the glued union, over how often a record is drawn, of the base where so many records are replaced",
    "Balle, Barthe, Gaboardi 2018, Thm 10",
    "sampling.md, section 4",
    (*BATCHED, Fact.GROUPS),
)
SHUFFLE = Theorem(
    "shuffling",
    "counts of clones at the largest loss of a report, whichever two values a user may have",
    "Feldman, McMillan, Talwar 2021, Thm 3.1; Balle, Bell, Gascon, Nissim 2019",
    "shuffle.md",
    (Fact.REPLACE, Fact.ONE_RECORD, Fact.OTHERS, Fact.BOUNDED),
)
ONE_USER = Theorem(
    "shuffling",
    "one user, whom nobody hides: the base where the value is replaced",
    "by definition",
    "shuffle.md",
    (Fact.REPLACE, Fact.ONE_RECORD, Fact.BOUNDED),
)
BEST_OF = Theorem(
    "the best of several runs",
    "H(a) <= P[K = 0] (1 - a)_+ + E[K] H_base(a e^-c)",
    "Liu, Talwar 2019; Papernot, Steinke 2022; Koskela, Redberg, Wang 2024",
    "selection.md",
    (Fact.TAILS,),
)
ONE_RUN = Theorem("the best of several runs", "one run is the base", "by definition", "selection.md")
PARALLEL = Theorem(
    "parallel",
    "the largest profile of the cells, of which a record is in one",
    "McSherry 2009, for pure mechanisms",
    "points.md, section 6",
    (Fact.ADD_REMOVE,),
    "a record is added or removed; one that is replaced may move from a cell to another, which changes both: account "
    "for the cells with neighbours='add_remove', or compose them",
)
ALLOCATION = Theorem(
    "random allocation",
    "the mean of the likelihood ratios of all steps, one of which has the record",
    "Feldman, Shenfeld 2025 and 2026; Chua et al. 2025",
    "allocation.md",
    SAMPLED,
)
ALLOCATED_SETS = Theorem(
    "random allocation, several uses",
    "the mean over all sets of steps of the products of their likelihood ratios, between a sum of labels and its "
    "conditional moments; the base has what one use needs, too",
    "ours; the square: Scarf 1958",
    "allocation.md, sections 10 to 14",
    (Fact.GAUSSIAN,),
)
EVERY_STEP = Theorem(
    "random allocation",
    "with as many uses as steps every record is in every step: a composition",
    "by definition",
    "allocation.md",
    (Fact.ADD_REMOVE,),
)
SHUFFLED_BATCHES = Theorem(
    "shuffled batches",
    "given the order one batch differs: Gaussian noise at twice the sensitivity",
    "Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024 (lower end)",
    "shuffled_batches.md",
    (Fact.GAUSSIAN,),
)
GROUP = Theorem(
    "groups",
    "the law of the group: that of the k-fold shift, or a chain of k neighbours",
    "Dong, Roth, Su 2022, Thm 2.14",
    "group.md",
    (Fact.GROUPS,),
)
GROUP_CONCENTRATED = Theorem(
    "groups of what is zCDP",
    "rho size^2 at every order",
    "Bun, Steinke 2016, Prop. 1.9",
    "group.md, section 9",
    (Fact.EVERYWHERE,),
)
GROUP_IN_SAMPLE = Theorem(
    "groups in a sample",
    "a mixture of chains, by how many of the group are in the sample",
    "Ganesh 2024",
    "group.md, section 6",
    (Fact.EVERYWHERE,),
)
GROUP_SCATTERED = Theorem(
    "groups in an epoch",
    "by which of the group share a step",
    "ours",
    "allocation.md, section 6",
    (Fact.GAUSSIAN,),
)
GROUP_IN_BATCH = Theorem(
    "groups in a batch",
    "the glued union, by how many of the replaced records are in the batch",
    "Balle, Barthe, Gaboardi 2018, Thm 10, and ours",
    "group.md, section 7",
    (Fact.GROUPS,),
)

SAMPLE_WITNESS = Theorem(
    "a witness of a sample",
    "the neighbours of the base, sampled, have the mixture of its laws",
    "by definition",
    "facts.md, section 4",
    (Fact.ATTAINED, Fact.ALONE),
    lower=True,
)
WITNESS = Theorem(
    "a witness of the whole data",
    "the neighbours of the base",
    "by definition",
    "facts.md, section 4",
    (Fact.ATTAINED,),
    lower=True,
)

THEOREMS = tuple(value for value in tuple(globals().values()) if isinstance(value, Theorem))
