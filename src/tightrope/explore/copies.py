"""A question as other people type it: on the command line and in Python. Both give the digits that the page shows.

Who asks without naming seconds has ten of them, here and there, and the same question does the same work everywhere.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from ..extend.expressions import Template, has_unknown
from ..extend.wording import short

_NAME = re.compile(r"[a-z_]+")
_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[?{}]""")


def command(verb: str, text: str, options: Mapping[str, object]) -> str:
    """A line for a shell, such as tightrope epsilon 'Gaussian(sigma=1)' --delta 1e-05; a list repeats its option."""
    given = (
        (name, each) for name, value in options.items() for each in (value if isinstance(value, list) else [value])
    )
    told, line = [f"--{name} {_word(value)}" for name, value in given], one_line(text)
    if line.startswith("-"):  # or it would be taken for an option
        return " ".join(["tightrope", verb, *told, "--", shlex.quote(line)])
    return " ".join(["tightrope", verb, shlex.quote(line), *told])


def question(text: str, method: str, arguments: Mapping[str, object]) -> str:
    """The same in Python, by a method of the run."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"import tightrope as tr\n\nrun = tr.parse({one_line(text)!r})\nprint(run.{method}({given}))"


def comparison(text: str, delta: float) -> str:
    """The classic bounds, in Python."""
    return f"import tightrope as tr\n\nprint(tr.compare(tr.parse({one_line(text)!r}), delta={delta!r}))"


def calibration(template: Template, epsilon: float, delta: float) -> str:
    """A search in Python: the text with the unknown put in."""
    unknown = template.parameter if _NAME.fullmatch(template.parameter) else "value"
    whole = ", integer=True" if template.integer else ""
    return (
        f"import tightrope as tr\n\nprint(\n    tr.calibrate(\n"
        f"        lambda {unknown}: tr.parse(f{put(one_line(template.text), f'{{{unknown}!r}}')!r}),\n"
        f"        epsilon={epsilon!r},\n        delta={delta!r},\n"
        f"        parameter={template.parameter!r}{whole},\n    )\n)"
    )


def put(text: str, value: str) -> str:
    """The text with this in place of every ? outside of quotes; braces become those of an f-string's text."""
    braces = {"{": "{{", "}": "}}"}

    def replaced(match: re.Match[str]) -> str:
        if match[0] == "?":
            return value
        return re.sub(r"[{}]", lambda each: braces[each[0]], match[0])

    return _QUOTED.sub(replaced, text)


def filled(text: str, value: float) -> str:
    """The text with a number in place of every ?."""
    if not has_unknown(text):
        return text
    return re.sub(_QUOTED, lambda match: short(value) if match[0] == "?" else match[0], text)


def one_line(text: str) -> str:
    """A text without the ends of its lines."""
    return " ".join(text.split("\n")).strip()


def _word(value: object) -> str:
    return shlex.quote(short(value)) if isinstance(value, float) else shlex.quote(str(value))
