"""What users rely on is written down: tests/reference/api.txt, docs/stability.md, and docstrings."""

from __future__ import annotations

import inspect
import json
import re
import warnings
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from release import api, api_adapters, api_python
from tightrope import documents, result
from tightrope.cli.app import app
from tightrope.core.values.calls import MINORS_KEPT, deprecated, warn_deprecated

ROOT = Path(__file__).resolve().parent.parent
CHANGED = """The public interface is not what tests/reference/api.txt says:

{difference}

If that is meant, write the file anew with

    .venv/bin/python -m release.api

and say it under the first heading of CHANGELOG.md: Added, Changed, Deprecated or Removed. What is gone, or needs more
than before, was deprecated for {kept} minor versions first: docs/stability.md.
"""
SAYS_SOMETHING = 20  # letters, at least


def test_the_public_surface_is_what_is_written_down() -> None:
    written, found = api.FILE.read_text("utf-8"), api.surface()
    difference = "\n".join(unified_diff(written.splitlines(), found.splitlines(), "written", "found", lineterm="", n=1))
    assert not difference, CHANGED.format(difference=difference, kept=MINORS_KEPT)


def test_a_change_of_a_call_an_answer_or_an_option_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def dump(mechanism: tr.Mechanism, *, indent: int = 0) -> str:
        return ""

    monkeypatch.setattr(tr, "dump", dump)
    monkeypatch.setattr(tr.Bound, "middle", property(lambda self: 0.0), raising=False)
    monkeypatch.setattr(app.commands["epsilon"], "params", [*app.commands["delta"].params])
    monkeypatch.setattr(documents, "SCHEMA", 2)
    monkeypatch.delattr(tr, "parse")
    written, found = api.FILE.read_text("utf-8").splitlines(), api.surface().splitlines()
    changed = [
        line for line in unified_diff(written, found, lineterm="", n=0) if not line.startswith(("@", "--", "++"))
    ]
    assert [line.split(" -> ")[0] for line in changed] == [
        "+    middle: <class 'inspect._empty'>",
        "-dump(mechanism)",
        "+dump(mechanism, *, indent=0)",
        "-parse(text, files=None)",
        "-    --delta float (needed, may be repeated)",
        "+    --epsilon float (needed, may be repeated)",
        "-schema 1",
        "+schema 2",
    ]


PUBLIC: dict[str, Any] = {
    f"{title}.{name}": value for title in api_python.MODULES for name, value in api_python.public(title).items()
}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    assert says_something(PUBLIC[name], name.rsplit(".", 1)[-1])


@pytest.mark.parametrize("name", CLASSES)
def test_every_method_and_property_of_a_public_class_is_documented(name: str) -> None:
    kind = CLASSES[name]
    silent = [
        f"{name}.{member}"
        for member, owner in api_python.members(kind).items()
        if is_told(vars(owner)[member]) and not says_something(getattr(kind, member), member)
    ]
    assert silent == []


def test_every_value_that_answers_hold_is_documented() -> None:
    met: set[type] = set()
    list(api_python.told(met))
    silent = [kind.__qualname__ for kind in met if not says_something(kind, kind.__name__)]
    silent += [
        f"{kind.__qualname__}.{member}"
        for kind in met
        for member, owner in api_python.members(kind).items()
        if is_told(vars(owner)[member]) and not says_something(getattr(kind, member), member)
    ]
    assert silent == []


@pytest.mark.parametrize("module", api_adapters.NAMES)
def test_adapters_are_documented(module: str) -> None:
    assert [name for name in api_adapters.NAMES[module] if not api_adapters.documented(module, name)] == []


def is_told(found: object) -> bool:
    """Whether it is a method or a property, of whatever kind."""
    kinds = (property, cached_property, staticmethod, classmethod)
    return isinstance(found, kinds) or inspect.isfunction(found)


def says_something(thing: Any, name: str) -> bool:
    """Whether it has a docstring of its own or of a class of ours above it, and not one that a dataclass makes."""
    said = inspect.getdoc(thing) or ""
    made = inspect.isclass(thing) and said.startswith(f"{name}(")
    return len(said) >= SAYS_SOMETHING and not made


def test_a_docstring_that_python_makes_says_nothing() -> None:
    assert not says_something(type("Plain", (), {}), "Plain")
    assert not says_something(type("Plain", (), {"__doc__": "Plain(number: int)"}), "Plain")
    assert says_something(tr.Bound, "Bound")


def test_what_is_deprecated_does_what_it_did_and_names_what_to_use_at_the_line_that_called() -> None:
    @deprecated("tr.new", since="0.3.1")
    def old(number: int, *, more: int = 0) -> int:
        """What it does."""
        return number + more

    told = r"old is deprecated since 0\.3\.1, and goes in 0\.5\.0 or later: use tr\.new$"
    with pytest.warns(DeprecationWarning, match=told) as caught:
        assert old(1, more=2) == 3
    (warning,) = caught
    assert warning.filename == __file__
    assert old.__doc__ == "What it does."
    assert old.__deprecated__ == "tr.new"  # type: ignore[attr-defined]


def test_a_keyword_that_goes_warns_at_the_line_that_called() -> None:
    def ask(old: float | None = None) -> None:
        if old is not None:
            warn_deprecated("ask(old=)", "new=", since="1.0.0")

    with pytest.warns(DeprecationWarning, match=r"^ask\(old=\) is deprecated since 1.0.0, and goes in 1.2.0") as caught:
        ask(old=1.0)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask()


@pytest.mark.parametrize("number", [documents.SCHEMA + 1, 10**30])
def test_a_document_of_a_newer_schema_is_told(number: int) -> None:
    for read in (tr.load, result.read, tr.verify):
        with pytest.raises(
            tr.DataError, match=f"of schema {number}, and Tightrope .* reads schema 1: a newer"
        ) as caught:
            read(json.dumps({"schema": number, "run": {}}))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["0", "-1", "true", '"2"', "1.5", "null", "2.0"])
def test_what_has_no_number_of_a_schema_is_no_document(number: str) -> None:
    with pytest.raises(tr.DataError, match=r"this is not a mechanism of schema 1"):
        tr.load(f'{{"schema": {number}}}')


def test_a_key_that_a_later_version_added_is_passed_over() -> None:
    """Documents of one schema may gain keys: whoever reads them knows those that he needs."""
    run = tr.Gaussian(sigma=1.0)
    answer = result.Result(repr(run), "delta", {"epsilon": 1.0}, run.delta(1.0))
    document = json.loads(result.write([answer], several=False)) | {"colour": "green"}
    document["certificate"]["flavour"] = "sweet"
    document["digest"] = documents.digest(document)
    assert result.read(json.dumps(document)) == (answer,)


def test_the_schema_files_are_of_this_schema() -> None:
    folder = Path(tr.__file__).parent / "schema"
    numbers = {
        path.name: set(re.findall(r'"schema": \{"const": (\d+)\}', path.read_text("utf-8")))
        for path in folder.glob("*.json")
    }
    assert numbers.pop("sweep.json") == set()  # lines of a table
    assert set.union(*numbers.values()) == {str(documents.SCHEMA)}
    assert all(numbers.values())


def test_the_version_is_one_of_semantic_versioning_and_the_changelog_has_a_place_for_it() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", tr.__version__)
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased" or re.fullmatch(rf"{re.escape(tr.__version__)} - \d{{4}}-\d\d-\d\d", headings[0])


KEPT = (ROOT / "tests" / "reference" / "mechanisms.jsonl").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", KEPT, ids=lambda line: json.loads(line)["expression"][:40])
def test_mechanisms_that_people_kept_are_read(line: str) -> None:
    """As text and as JSON, by version 0.1.0; nothing in that file is written again."""
    kept = json.loads(line)
    assert tr.load(json.dumps(kept["document"])) == tr.parse(kept["expression"])
