"""What is known so far: whole lines stay, a torn one goes, and another sweep does not go on with it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tightrope.sweep.definition import Definition, read_definition
from tightrope.sweep.executor import Here
from tightrope.sweep.journal import Journal

TOML = """
make = "Gaussian(sigma={sigma})"
ask = "delta(epsilon={epsilon})"
[grid]
sigma = [0.5, 1, -1]
epsilon = [0, 1, inf]
"""


def defined(folder: Path, text: str = TOML) -> Definition:
    (folder / "sweep.toml").write_text(text, "utf-8")
    return read_definition(folder / "sweep.toml")


def opened(folder: Path, asked: Definition, resume: bool = True) -> Journal:
    return Journal(folder / "out.csv.journal", asked.header("1"), asked.plan.grid, resume)


def test_rows_come_back_as_they_were_in_the_order_of_the_grid(tmp_path: Path) -> None:
    asked = defined(tmp_path)
    with opened(tmp_path, asked, resume=False) as journal:
        for rows in asked.plan.run(Here()):
            journal.add(rows)
            journal.add(rows)  # twice is once
        assert journal.count == 9
        found = tuple(journal.rows())
    table = tr.sweep(
        "Gaussian(sigma={sigma})",
        {"sigma": [0.5, 1, -1], "epsilon": [0, 1, math.inf]},
        "delta(epsilon={epsilon})",
        workers=1,
    )
    assert found == table.rows
    assert [row.error is None for row in found] == [True] * 6 + [False] * 3


def test_a_torn_line_is_asked_again_and_no_other(tmp_path: Path) -> None:
    asked = defined(tmp_path)
    path = tmp_path / "out.csv.journal"
    with opened(tmp_path, asked) as journal:
        for rows in asked.plan.run(Here()):
            journal.add(rows)
    whole = path.read_bytes()
    for cut in (1, 30, whole.rstrip(b"\n").rfind(b"\n") + 1, 10, 0):
        path.write_bytes(whole[: len(whole) - cut] if cut < 100 else whole[:cut])
        kept = path.read_bytes().count(b"\n") - 1
        with opened(tmp_path, asked) as journal:
            assert journal.count == kept
            again = list(asked.plan.run(Here(), journal.__contains__))
            assert len(again) == 9 - kept
            for rows in again:
                journal.add(rows)
            assert len(list(journal.rows())) == 9
        assert all(line.startswith(b"{") and line.endswith(b"}") for line in path.read_bytes().splitlines())
        assert path.read_bytes().count(b'{"index"') == path.read_bytes().count(b"\n") - 1 == 9
    path.write_bytes(whole[:20])
    with opened(tmp_path, asked) as journal:
        assert journal.count == 0
        with pytest.raises(tr.DataError, match="configuration 0 is not there"):
            list(journal.rows())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[0.5, 1, -1]", "[0.5, 2, -1]", r"grid.sigma was \[0.5, 1, -1\] and is \[0.5, 2, -1\]"),
        ("{sigma}", "2*{sigma}", "make was"),
        ("epsilon = [0, 1, inf]", "epsilon = [0, 1]", "grid.epsilon was"),
        ("[grid]", "seconds = 3\n[grid]", "seconds was not there and is 3"),
    ],
)
def test_another_sweep_is_refused_with_the_difference(tmp_path: Path, old: str, new: str, told: str) -> None:
    with opened(tmp_path, defined(tmp_path)):
        pass
    with pytest.raises(tr.InvalidParameter, match=told):
        opened(tmp_path, defined(tmp_path, TOML.replace(old, new)))
    with opened(tmp_path, defined(tmp_path)):
        pass


def test_one_at_a_time_and_none_by_accident(tmp_path: Path) -> None:
    asked = defined(tmp_path)
    with opened(tmp_path, asked), pytest.raises(tr.InvalidParameter, match="another sweep is writing"):
        opened(tmp_path, asked)
    with (tmp_path / "out.csv.journal").open("ab") as file:
        file.write(b'{"index": 99, "answers": [{}]}\n')
    with pytest.raises(tr.InvalidParameter, match="--resume goes on"):
        opened(tmp_path, asked, resume=False)
    with pytest.raises(tr.DataError, match="line 2: damaged"):
        opened(tmp_path, asked)


def test_a_table_that_changed_is_another_sweep(tmp_path: Path) -> None:
    text = 'make = "Gaussian(sigma={sigma})"\nask = "advantage()"\ngrid = "grid.csv"'
    (tmp_path / "grid.csv").write_text("sigma,label\n1,a\n2,b\n", "utf-8")
    with opened(tmp_path, defined(tmp_path, text)):
        pass
    (tmp_path / "grid.csv").write_text("sigma,label\n1,a\n3,b\n", "utf-8")
    with pytest.raises(tr.InvalidParameter, match="the configurations of its CSV file have changed"):
        opened(tmp_path, defined(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("make = ", "not TOML"),
        ("mkae = 'x'", "did you mean make"),
        ("make = 'x'\nask = 'y'", "needs grid"),
        (TOML.replace("[grid]", "workers = 3\n[grid]"), "takes no workers"),
        (TOML.replace("[grid]", "seconds = 0\n[grid]"), "seconds must be a number above 0"),
        (TOML.replace("[grid]", "draws = 3\n[grid]"), "something to draw"),
    ],
)
def test_what_is_no_sweep_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(tr.TightropeError, match=told):
        defined(tmp_path, text)


def test_a_grid_of_a_hundred_million_takes_no_memory(tmp_path: Path) -> None:
    spec: dict[str, Any] = {
        "sigma": "{from = 1, to = 2, points = 10000}",
        "epsilon": "{from = 0, to = 1, points = 10000}",
    }
    text = TOML.partition("[grid]")[0] + "[grid]\n" + "\n".join(f"{name} = {each}" for name, each in spec.items())
    asked = defined(tmp_path, text)
    with opened(tmp_path, asked) as journal:
        chunk = next(asked.plan.chunks(50, journal.__contains__))
        for index, configuration in chunk[:3]:
            journal.add(asked.plan.job.answer(index, configuration))
        assert journal.count == 3
        assert chunk[0][0] in journal


def test_a_sweep_that_ended_before_its_first_answer_leaves_nothing_to_resume(tmp_path: Path) -> None:
    path, grid = tmp_path / "rows.csv.journal", defined(tmp_path).plan.grid
    Journal(path, {"make": "a"}, grid, resume=False).close()
    with Journal(path, {"make": "b"}, grid, resume=False) as journal:
        assert journal.count == 0
    assert '"make": "b"' in path.read_text("utf-8")
    assert path.read_bytes().count(b"\n") == 1
    path.write_bytes(b"a file of mine\n")
    with pytest.raises(tr.InvalidParameter, match="or delete it"):
        Journal(path, {"make": "b"}, grid, resume=False)
    assert path.read_bytes() == b"a file of mine\n"
