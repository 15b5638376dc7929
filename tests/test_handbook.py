"""What makes the site: blocks that are found, names that become links, and faults that stop it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handbook.blocks import blocks, commands
from handbook.checked import faults
from handbook.reference import pages
from handbook.reference.words import markdown
from handbook.stage import cells, linked

PAGE = """# A page

```python
import tightrope
print(1 + 1)  # 2
```

```console
$ export A=1 B=2
$ tightrope --version
tightrope, version 0
```

```python needs opacus torch
import torch
```

```python src/tightrope/new.py
shown
```

```{toctree}
a
```
"""


def test_blocks_say_what_runs_where_and_what_comes_out() -> None:
    first, second, third, fourth, fifth = blocks(PAGE)
    assert [each.runs for each in (first, second, third, fourth, fifth)] == [True, True, True, False, False]
    assert first.shown == "import tightrope\nprint(1 + 1)\n"
    assert first.printed == ["2"]
    assert third.needs == ("opacus", "torch")
    export, version = commands(second.body)
    assert export.settings == {"A": "1", "B": "2"}
    assert (version.words, version.begins) == (["tightrope", "--version"], ("tightrope, version 0",))


def test_blocks_become_cells_that_are_compared() -> None:
    staged = cells(PAGE)
    assert "name: elsewhere" in staged  # one of its blocks needs other libraries
    assert "print(1 + 1)\n```" in staged
    assert "_said(*['2'])" in staged
    assert "_console('$ export A=1 B=2" in staged
    assert "```{code-block} python\n:caption: src/tightrope/new.py\n" in staged
    assert "```{toctree}\na\n```" in staged


def test_a_page_without_blocks_is_no_notebook() -> None:
    assert cells("# Words\n\nOnly words.\n") == "# Words\n\nOnly words.\n"


TITLES = {"training.md": "Training runs", "proofs/poisson.md": "Poisson", "changelog.md": "Changelog"}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("see docs/training.md.", "proofs/poisson.md", "see [Training runs](../training.md)."),
        ("(docs/proofs/poisson.md)", "training.md", "([Poisson](proofs/poisson.md))"),
        ("[x](proofs/poisson.md#here)", "reference/a.md", "[x](../proofs/poisson.md#here)"),
        ("[docs/training.md](training.md)", "a.md", "[docs/training.md](training.md)"),
        ("`docs/training.md` and CHANGELOG.md", "a.md", "`docs/training.md` and [Changelog](changelog.md)"),
        ("    docs/training.md", "a.md", "    docs/training.md"),
        ("docs/absent.md", "a.md", "docs/absent.md"),
        ("this page is docs/training.md", "training.md", "this page is docs/training.md"),
        ("```text\ndocs/training.md\n```\n", "a.md", "```text\ndocs/training.md\n```\n"),
    ],
)
def test_names_of_pages_become_links(text: str, name: str, expected: str) -> None:
    assert linked(text, name, TITLES) == expected


def test_faults_of_a_site_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">b</a><a href="b.html#nowhere">b</a><a href="c.html">c</a>'
        '<a href="https://example.org">out</a><img src="x.png"><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    (tmp_path / "s.css").write_text("@import 'https://example.org/s.css'; p { background: url(data:x) }")
    assert faults(tmp_path) == [
        "a.html: fetches x.png, which is not there",
        "a.html: fetches https://example.org/x.js from outside",
        "a.html: links to b.html#nowhere: there is no such place on that page",
        "a.html: links to c.html, which is not there",
        "a.html: 1 pictures without words for those who do not see them",
        "s.css: fetches https://example.org/s.css",
    ]


def test_docstrings_are_words_and_not_markdown() -> None:
    assert markdown("a*b and x_ in `c*d`, see [proof](proofs/x.md)") == (
        r"a\*b and x\_ in `c*d`, see [proof](proofs/x.md)"
    )
    assert markdown("Text:\n\n    kept * as it is\nTheorem: one;\n    goes on") == (
        "Text:\n\n    kept * as it is\nTheorem: one;\ngoes on"
    )


def test_the_reference_is_made_and_names_every_public_name() -> None:
    """pages() itself raises where a name is on no page, has no docstring, or an example raises something else."""
    made = pages()
    assert {"reference/index.md", "reference/errors.md", "reference/command_line.md"} <= made.keys()
    assert all(text.startswith("# ") for text in made.values())
