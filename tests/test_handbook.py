"""What makes the site: blocks that are found, names that become links, and faults that stop it."""

from __future__ import annotations

import os
from pathlib import Path
from socket import socket

import pytest

from handbook import __main__ as site
from handbook.blocks import Command, blocks, commands, unread
from handbook.checked import faults
from handbook.kernel import Changed, Failed, answer
from handbook.reference import pages, words
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


FORM = "a block stands between two fences of ``` at the left margin"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- a\n\n  ```python\n  x\n  ```\n", [(3, FORM), (5, FORM)]),
        ("1. ```python\n   x\n   ```\n", [(1, FORM), (3, FORM)]),
        ("> ```python\n> x\n> ```\n", [(1, FORM), (3, FORM)]),
        ("````python\nx\n````\n", [(1, FORM), (3, FORM)]),
        ("~~~python\nx\n~~~\n", [(1, FORM), (3, FORM)]),
        ("```python\nx\n```  \n", [(1, FORM), (3, FORM)]),
        ("```python\nx\n", [(1, FORM)]),
        ("```text\nx\n``` \n\n```python\ny\n```\n", [(1, "another block begins before this one ends")]),
        ("```python3\nx\n```\n", [(1, "python3 is run by nobody")]),
        ("```Python\nx\n```\n", [(1, "Python is run by nobody")]),
        ("``` python\nx\n```\n", [(1, "python is run by nobody")]),
        ("```python needs\nx\n```\n", [(1, "python needs is run by nobody")]),
        ("```python title\nx\n```\n", [(1, "python title is run by nobody")]),
        ("```bash\nx\n```\n", [(1, "bash is run by nobody")]),
        ("```\nx\n```\n", [(1, "a fence without a language is run by nobody")]),
        ("```{code-block} python\nx\n```\n", [(1, "{code-block} python is not for pages")]),
        ("```console\ntightrope x\n```\n", [(1, "a console begins with a command: $ tightrope ...")]),
        ("```console\n$ export A=1\nA is 1\n```\n", [(1, "export prints nothing")]),
        ("```console\n$ export A=1\n$ tightrope --help\n```\n", []),
        ("```sh\nmake docs\n```\n", []),
        (PAGE, []),
    ],
)
def test_code_that_nobody_would_run_is_told(text: str, why: list[tuple[int, str]]) -> None:
    assert list(unread(text)) == why


def test_blocks_become_cells_that_are_compared() -> None:
    staged = cells(PAGE, "howto/page.md")
    assert ':mystnb: {"image": {"alt": "Drawn by this code: A page"}}\nimport tightrope\nprint(1 + 1)\n```' in staged
    assert "_page = _Running('docs/howto/page.md', [3, 8])" in staged
    assert "_page.said(*['2'])" in staged
    assert "_page.console('$ export A=1 B=2" in staged
    assert "{code-cell} ipython3\nimport torch" not in staged  # it needs other libraries
    assert '```{code-block} python\n:caption: "`src/tightrope/new.py`"\n' in staged
    assert "```{toctree}\na\n```" in staged


def test_what_needs_other_libraries_is_shown_with_what_it_prints() -> None:
    """Without a kernel, where a page has nothing else to run."""
    page = "# A page\n\n```python needs torch\nimport torch\nprint(torch.tensor(1))  # tensor(1)\n```\n"
    code = "```{code-block} ipython3\nimport torch\nprint(torch.tensor(1))\n```\n"
    output = "```{code-block} text\n:class: output stream\n\ntensor(1)\n```\n"
    assert cells(page, "page.md") == f"# A page\n\n:::{{container}} cell\n{code}{output}:::\n"


def test_a_page_without_blocks_is_no_notebook() -> None:
    assert cells("# Words\n\nOnly words.\n", "words.md") == "# Words\n\nOnly words.\n"


TITLES = {
    "training.md": "Training runs",
    "proofs/poisson.md": "Poisson",
    "changelog.md": "Changelog",
    "proofs/hits.md": "Hits: why the intervals of this engine hold",
    "lattice.md": "The lattice: seen from outside",
    "proofs/lattice.md": "The lattice: why its interval holds",
}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("see docs/training.md.", "proofs/poisson.md", "see [Training runs](../training.md)."),
        ("(docs/proofs/poisson.md)", "training.md", "([Poisson](proofs/poisson.md))"),
        ("[x](proofs/poisson.md#here)", "reference/a.md", "[x](../proofs/poisson.md#here)"),
        ("[docs/training.md](training.md)", "a.md", "[Training runs](training.md)"),
        (
            "(proofs/hits.md, docs/lattice.md)",
            "a.md",
            "([Hits](proofs/hits.md), [The lattice: seen from outside](lattice.md))",
        ),
        ("in laws/__init__.py, `__main__`", "a.md", "in laws/\\_\\_init\\_\\_.py, `__main__`"),
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
        '<a href="https://example.org">out</a><img src="x.png"><img src="data:x"><img src="data:y" alt="_images/y.svg">'
        '<img src="a.html" alt="_images/a.svg"><img src="a.html" alt="words"><script src="https://example.org/x.js">$</script>'
        '<span class="math">\\(a\\)<i>$</i></span><br><code>$</code> costs $5 and <b>[a](b)</b>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    (tmp_path / "s.css").write_text("@import 'https://example.org/s.css'; p { background: url(data:x) }")
    assert faults(tmp_path) == [
        "a.html: fetches x.png, which is not there",
        "a.html: fetches https://example.org/x.js from outside",
        "a.html: links to b.html#nowhere: there is no such place on that page",
        "a.html: links to c.html, which is not there",
        "a.html: shows 'costs $5 and'",
        "a.html: shows '[a](b)'",
        "a.html: 2 pictures without words for those who do not see them",
        "s.css: fetches https://example.org/s.css",
    ]


def test_commands_answer_what_the_page_says_and_end_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIGHTROPE_LEDGER", "")
    assert answer(Command("export TIGHTROPE_LEDGER=budget.db", ())) == ""
    assert os.environ["TIGHTROPE_LEDGER"] == "budget.db"
    ask = 'tightrope epsilon "PureDP(epsilon=1)" --delta 0'
    assert answer(Command(ask, ("epsilon in [1, 1] at delta 0",))).startswith("epsilon in [1, 1] at delta 0\n")
    with pytest.raises(Changed, match=r"the page says\n    epsilon in \[2, 2\]\nwhat came is\n    epsilon in \[1, 1\]"):
        answer(Command(ask, ("epsilon in [2, 2]",)))
    with pytest.raises(Failed, match=r"^\$ tightrope epsilonn\nexit code 2\n"):
        answer(Command("tightrope epsilonn", ()))


def test_what_stops_the_site_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def undocumented() -> dict[str, str]:
        return {"reference/a.md": words.documented(lambda: None)}

    monkeypatch.setattr(site, "pages", undocumented)
    monkeypatch.setattr(site, "SITE", tmp_path / "site")
    monkeypatch.setattr(site, "TREES", tmp_path / "trees")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").touch()
    assert site.build() == 1
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first.endswith("has no docstring")
    assert last == "There is no site: what stands above is to be mended first."
    assert site.serve(0) == 1
    assert capsys.readouterr().err == "there is no site yet: make docs\n"


def test_a_port_that_is_taken_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(site, "SITE", tmp_path)
    (tmp_path / "index.html").touch()
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert site.serve(taken.getsockname()[1]) == 1
    assert "cannot be used" in capsys.readouterr().err


def test_docstrings_are_words_and_not_markdown() -> None:
    assert markdown("a*b and x_ in `c*d`, see [proof](proofs/x.md)") == (
        r"a\*b and x\_ in `c*d`, see [proof](proofs/x.md)"
    )
    assert markdown("Text:\n\n    kept * as it is\nTheorem: one;\n    goes on") == (
        "Text:\n\n    kept * as it is\nTheorem: one;\ngoes on"
    )


def test_links_of_docstrings_may_go_over_two_lines() -> None:
    assert markdown("Text [proof of the\nprofile](proofs/x.md) and [0,\n1]\n# x") == (
        "Text [proof of the\nprofile](proofs/x.md) and \\[0,\n1\\]\n\\# x"
    )


def test_the_reference_is_made_and_names_every_public_name() -> None:
    """pages() itself raises where a name is on no page, has no docstring, or an example raises something else."""
    made = pages()
    assert {"reference/index.md", "reference/errors.md", "reference/command_line.md"} <= made.keys()
    assert all(text.startswith("# ") for text in made.values())
    assert [name for name, text in made.items() if " at 0x" in text] == []  # where it lies in memory, another each time
