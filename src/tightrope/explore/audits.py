"""The scores of an attack, dropped on the page: what they refute of the run that is chosen, and of any at delta.

The answer is that of `tr.audit`: its sentences, its document; the run's own epsilon stands beside what is refuted.
"""

from __future__ import annotations

import shlex
from typing import Any

import tightrope as tr

from .. import InvalidParameter
from ..extend.expressions import has_unknown
from ..extend.questions import scores_of_text
from ..extend.wording import rounded
from . import copies
from .asked import PageQuestion
from .shown import ends

EPSILON_DIGITS = 6
FILE_NAME_MAX = 255  # characters of the name of a file


def audited(asked: PageQuestion) -> dict[str, Any]:
    """What was seen, and what it refutes."""
    text, name, delta = _text(asked, "text"), _text(asked, "name")[:FILE_NAME_MAX], asked.number("delta")
    design, claim = asked.word("design"), asked.text or None
    result = tr.audit(
        **scores_of_text(_text(asked, "scores"), name), design=design, claim=claim, delta=delta, seconds=asked.seconds
    )
    run = asked.run() if claim is not None and not has_unknown(text) else None
    least = result.epsilon_lower
    return {
        "sentences": list(result.sentences),
        "assumed": list(result.assumptions),
        "warnings": list(result.warnings),
        "refuted": result.refuted,
        "epsilon": None if least is None else {"value": least, "text": rounded(least, EPSILON_DIGITS, up=False)},
        "claimed": None if run is None else ends(run.epsilon(delta, seconds=asked.seconds)),
        "tests": [[test.method, test.rank, test.count, test.trials, test.weight] for test in result.tests],
        "json": result.to_json(),
        "command": _command(name, design, delta, text),
        "python": _python(name, design, delta, text),
    }


def _text(asked: PageQuestion, name: str) -> str:
    value = asked.given.get(name, "")
    if not isinstance(value, str):
        raise InvalidParameter(f"{name} must be a text")
    return value


def _command(name: str, design: str, delta: float, text: str) -> str:
    claim = f" --claim {shlex.quote(copies.one_line(text))}" if text else ""
    file = name if not name.startswith("-") else f"./{name}"
    return f"tightrope audit {shlex.quote(file)} --{design} --delta {delta!r}{claim}"


def _python(name: str, design: str, delta: float, text: str) -> str:
    claim = f", claim={copies.one_line(text)!r}" if text else ""
    return f"import tightrope as tr\n\nprint(tr.audit({name!r}, design={design!r}, delta={delta!r}{claim}))"
