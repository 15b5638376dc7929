"""What all JSON documents here have in common: how values are written, and what is refused where they are read.

Guarantee: doubles are written with all their digits, infinity as "inf"; nothing that is not JSON is written or read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

from .calls import quoted
from .errors import DataError

SCHEMA = 1
DEPTH_MOST = 100


def write(content: Mapping[str, object]) -> str:
    """A document of this schema on one line."""
    return json.dumps({"schema": SCHEMA, **content}, allow_nan=False)


def read(text: str, about: str) -> dict[str, Any]:
    """The object of a document of this schema; DataError otherwise."""
    try:
        document = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant, parse_float=_finite)
    except DataError:
        raise
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise DataError(f"nested more than {DEPTH_MOST} deep") from None
    except (TypeError, ValueError):
        raise DataError("not JSON: a text, with numbers within the range of a double, is needed") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or isinstance(document["schema"], bool):
        raise DataError(f'this is not {about} of schema {SCHEMA}: {{"schema": {SCHEMA}, ...}} is needed')
    return document


def plain(value: object) -> Any:
    """What JSON can hold: infinities as text, members by value, containers by item, anything else as its text."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DataError(f"the key {quoted(key)} is repeated")
        found[key] = value
    return found


def _refuse_constant(word: str) -> float:
    raise DataError(f'{word} is not JSON; infinity is written "inf"')


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise DataError(f'{quoted(digits)} is beyond the range of a double; infinity is written "inf"')
    return number
