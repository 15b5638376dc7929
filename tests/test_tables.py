"""One table in every form: the same cells, escaped as each form needs it."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from io import StringIO

import pytest

import tightrope as tr
from tightrope.tables import Column, Table, Tabled, aligned

TABLE = Table(
    (
        Column("name <a>", ["one & two", "50 % of $x_1$, {y}", None]),
        Column("value", [0.1, float("inf"), 1e-300], right=True),
    ),
    title="a < b",
    notes=("#1 ~ \\2^3",),
)


class Cells(HTMLParser):
    """The texts of a table's cells, its caption and its notes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th", "caption", "small"):
            self.open.append(tag)
            self.found.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        assert self.open, f"text outside of cells: {data}"
        self.found[-1] = (self.found[-1][0], self.found[-1][1] + data)


def test_text_is_aligned_between_title_and_notes() -> None:
    assert str(TABLE).splitlines() == [
        "a < b",
        "name <a>             value",
        "one & two              0.1",
        "50 % of $x_1$, {y}     inf",
        "                    1e-300",
        "#1 ~ \\2^3",
    ]
    assert TABLE.lines(indent="  ")[0] == "  name <a>             value"
    assert aligned([["a", "b"], ["long", "c"]]) == ["a     b", "long  c"]


def test_html_holds_every_cell_as_it_is() -> None:
    reader = Cells()
    reader.feed(TABLE.html())
    assert reader.found == [
        ("caption", "a < b"),
        ("th", "name <a>"),
        ("th", "value"),
        *(("td", text) for text in ("one & two", "0.1", "50 % of $x_1$, {y}", "inf", "", "1e-300")),
        ("small", "#1 ~ \\2^3"),
    ]


def test_latex_has_no_mark_of_its_own_in_a_cell() -> None:
    assert TABLE.latex().splitlines() == [
        "% a < b",
        "% #1 ~ \\2^3",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"name \textless{}a\textgreater{} & value \\",
        r"\midrule",
        r"one \& two & 0.1 \\",
        r"50 \% of \$x\_1\$, \{y\} & inf \\",
        r" & 1e-300 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert (
        Table((Column("a\\b~c^d", []),)).latex().count(r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d") == 1
    )


def test_csv_and_json_give_the_same_values_back() -> None:
    rows = list(csv.reader(StringIO(TABLE.csv())))
    assert rows == [["name <a>", "value"], ["one & two", "0.1"], ["50 % of $x_1$, {y}", "inf"], ["", "1e-300"]]
    assert [float(row[1]) for row in rows[1:]] == list(TABLE.columns[1].cells)
    assert json.loads(TABLE.json()) == [
        {"name <a>": "one & two", "value": 0.1},
        {"name <a>": "50 % of $x_1$, {y}", "value": "inf"},
        {"name <a>": None, "value": 1e-300},
    ]


def test_cells_that_are_no_texts_have_one_spelling_in_csv() -> None:
    assert Table((Column("x", [True, False, (1.5, 2), 3]),)).csv() == 'x\ntrue\nfalse\n"[1.5, 2]"\n3\n'


def test_columns_of_other_lengths_are_no_table() -> None:
    with pytest.raises(ValueError, match="zip"):
        Table((Column("a", [1]), Column("b", []))).text()


RUN = tr.Gaussian(sigma=2.0)
RESULTS = {
    "curve": lambda: RUN.curve(0.0, 2.0, 3),
    "trade-off": lambda: RUN.tradeoff_curve(fprs=[0.01, 0.1]),
    "epochs": lambda: tr.training(records=100, batch=10, epochs=2, sigma=4.0).by_epoch(1e-5),
    "loss": lambda: RUN.loss_law(bins=4),
    "comparison": lambda: tr.compare(RUN, delta=1e-6, methods="zcdp"),
    "sweep": lambda: tr.sweep("Gaussian(sigma={s})", {"s": [1.0, 2.0]}, ask="delta(epsilon=1)"),
    "frontier": lambda: tr.frontier(2.0, 1e-5, records=1000, batch=[100], epochs=[1, 2]),
    "samplings": lambda: tr.by_sampling(1e-5, records=20, batch=10, epochs=1, sigma=4.0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_with_rows_is_a_table(name: str) -> None:
    found = RESULTS[name]()
    assert isinstance(found, Tabled)
    rows = list(csv.DictReader(StringIO(found.to_csv())))
    assert len(rows) == len(found.data.rows) == len(found.table.rows) > 0
    for row, values in zip(rows, found.data.rows, strict=True):
        given = dict(zip(found.data.headings, values, strict=True))
        for end in ("lower", "upper"):
            assert given[end] is None or float(row[end]) == given[end]  # every digit
    reader = Cells()
    reader.feed(found.table.html())
    assert sum(tag == "td" for tag, _ in reader.found) == len(found.table.rows) * len(found.table.columns)
    assert found.table.latex().count(r"\\") == len(found.table.rows) + 1
