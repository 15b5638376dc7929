"""Documents: dates, digests that notice changes and nothing else, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import pytest

import tightrope as tr
from tightrope import documents

CONTENT: dict[str, Any] = {"upper": 1.0, "least": 5e-324, "text": '\u03b5 <= "1"', "parts": [1, {"b": 2.5, "a": None}]}


def test_a_digest_is_that_of_the_canonical_text() -> None:
    """Written out here by hand: keys in order, no spaces, whole doubles as integers, escapes."""
    text = '{"least":5e-324,"parts":[1,{"a":null,"b":2.5}],"text":"\\u03b5 <= \\"1\\"","upper":1}'
    assert documents.digest(CONTENT) == "sha256:" + sha256(text.encode()).hexdigest()


def test_a_digest_survives_other_writers_and_notices_changes() -> None:
    document = json.loads(documents.write_dated(CONTENT, "2026-11-16"))
    assert documents.digest_agrees(document) is True
    other = dict(reversed(document.items())) | {"upper": 1, "parts": [1.0, {"a": None, "b": 2.5}]}
    assert documents.digest_agrees(other) is True
    for key, value in (("upper", 1.0000000000000002), ("least", 0.0), ("text", "e"), ("parts", [1]), ("date", "2026")):
        assert documents.digest_agrees({**document, key: value}) is False
    assert documents.digest_agrees({**document, "more": 1}) is False
    assert documents.digest_agrees({**document, "digest": 3}) is False
    assert documents.digest_agrees({"upper": 1.0}) is None


def test_dates() -> None:
    east = timezone(timedelta(hours=2))
    for given, written in (
        ("2026-11-16", "2026-11-16"),
        ("2026-11-16T17:40:01Z", "2026-11-16T17:40:01Z"),
        ("2026-11-16T19:40:01+02:00", "2026-11-16T17:40:01Z"),
        ("2026-11-16T17:40:01.5", "2026-11-16T17:40:01.500000Z"),
        (date(2026, 11, 16), "2026-11-16"),
        (datetime(2026, 11, 16, 19, 40, 1, tzinfo=east), "2026-11-16T17:40:01Z"),
        (datetime(2026, 11, 16, 17, 40, 1), "2026-11-16T17:40:01Z"),
    ):
        assert documents.dated(given) == written  # type: ignore[arg-type]
    now = datetime.fromisoformat(documents.dated())
    assert now.tzinfo is not None
    assert abs(datetime.now(UTC) - now) < timedelta(minutes=5)


@pytest.mark.parametrize(
    "given", ["", "today", "2026-13-01", "2026-11-16T25:00", 3, "0001-01-01T00:00:00+12:00", b"2026"]
)
def test_what_is_no_date_is_refused(given: Any) -> None:
    with pytest.raises(tr.InvalidParameter, match=r"^date must be one such as 2026-11-16") as caught:
        documents.dated(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "held",
    ["[" * 200 + "]" * 200, "[" * 100_000 + "]" * 100_000, r'"\ud800"', "1" + "0" * 4200, "-0.0", '{"digest": 1}'],
)
def test_hostile_documents_are_refused_in_one_line(held: str) -> None:
    with pytest.raises(tr.DataError) as caught:
        documents.read(f'{{"schema": 1, "digest": "sha256:", "held": {held}}}', "a result")
    assert "\n" not in str(caught.value)
