"""`tightrope train`: what it says as text, JSON, CSV and picture; numbers to find; odd inputs."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tightrope as tr
from tightrope.cli.app import run
from tightrope.cli.train_order import common, read_number, read_schedule

SCHEMA = json.loads(files("tightrope").joinpath("schema/training.json").read_text())
PARTS = {
    name: jsonschema.Draft202012Validator(json.loads(files("tightrope").joinpath(f"schema/{name}.json").read_text()))
    for name in ("result", "calibration", "comparison")
}
MNIST = ["train", "--records", "60000", "--batch", "256", "--epochs", "15", "--sigma", "1.1", "--delta", "1e-5"]
SMALL = ["train", "--records", "1000", "--batch", "20", "--delta", "1e-4"]
Captured = pytest.CaptureFixture[str]


def document(arguments: list[str], capsys: Captured) -> dict[str, Any]:
    """What a command says in JSON, valid by its schema and by those of its parts."""
    assert run([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    for name, part in (("result", "result"), ("calibration", "calibration"), ("comparison", "comparison")):
        if name in found:
            PARTS[part].validate({"schema": 1, **found[name]})
    return found


def test_one_command_answers_the_first_run_that_people_try(capsys: Captured) -> None:
    assert run(MNIST) == 0
    first, *told = capsys.readouterr().out.splitlines()
    assert first == "epsilon in [1.13387471525, 1.13387471526] at delta 1e-05 (add/remove)"
    words = " ".join(" ".join(told).split())
    assert "3,516 steps: Gaussian(sigma=1.1).poisson(rate=0.004266666666666667) * 3516" in words
    assert "(--sampling poisson); neighbours: a record is added or removed" in words
    assert "other loaders: --sampling" in words
    assert max(map(len, told)) <= 100


def test_json_says_what_python_says(capsys: Captured) -> None:
    found = document([*SMALL, "--epochs", "2", "--sigma", "2", "--table"], capsys)
    made = tr.training(records=1000, batch=20, epochs=2, sigma=2.0)
    bound = made.epsilon(1e-4)
    assert (found["result"]["lower"], found["result"]["upper"]) == (bound.lower, bound.upper)
    assert found["run"]["expression"] == repr(made)
    assert tr.parse(found["run"]["expression"]) == made
    assert tr.parse(found["run"]["expanded"]) == made.expanded
    assert [row["steps"] for row in found["epochs"]] == [50, 100]
    assert found["epochs"][-1]["upper"] == bound.upper


def test_epochs_as_table_csv_and_picture(tmp_path: Path, capsys: Captured) -> None:
    picture, sheet = tmp_path / "epochs.png", tmp_path / "epochs.csv"
    asked = [*SMALL, "--epochs", "3", "--sigma", "2"]
    assert run([*asked, "--table", "--plot", str(picture), "--csv", str(sheet)]) == 0
    told = capsys.readouterr().out
    assert "\n    3    150  [" in told
    assert f"{sheet}" in "".join(told.split())
    assert picture.stat().st_size > 0
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    assert [row["steps"] for row in rows] == ["50", "100", "150"]
    assert run([*asked, "--csv", "-"]) == 0
    assert capsys.readouterr().out == sheet.read_text()


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("sigma", ["--epochs", "5"]),
        ("epochs", ["--sigma", "1.5"]),
        ("steps", ["--sigma", "1.5"]),
    ],
)
def test_a_number_is_found_with_its_miss(unknown: str, known: list[str], capsys: Captured) -> None:
    asked = [*SMALL, *known, f"--{unknown}", "?", "--epsilon", "2"]
    assert run(asked) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{unknown} = ")
    assert second.startswith(f"  {unknown} = ")
    assert "misses it" in second
    found = document(asked, capsys)
    assert found["calibration"]["bound"]["upper"] <= 2.0 < found["calibration"]["missed"]["lower"]
    assert found["run"]["expression"] == found["calibration"]["expression"]


def test_two_unknowns_make_a_table(tmp_path: Path, capsys: Captured) -> None:
    picture = tmp_path / "frontier.svg"
    asked = [*SMALL, "--sigma", "'?'", "--epochs", "?", "--points", "2", "--epsilon", "2"]
    assert run([*asked, "--plot", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the least sigma for epsilon 2 at delta 0.0001, records=1000, batch=20"
    assert [line.split()[0] for line in lines[3:5]] == ["1", "100"]
    assert picture.stat().st_size > 0
    found = document([*SMALL, "--sigma", "?", "--epochs", "2,8", "--epsilon", "2"], capsys)
    assert [row["given"] for row in found["frontier"]["rows"]] == [{"epochs": 2}, {"epochs": 8}]
    for row in found["frontier"]["rows"]:
        PARTS["calibration"].validate({"schema": 1, **row["calibration"]})


def test_every_loader_has_a_row(capsys: Captured) -> None:
    asked = ["train", "--records", "100", "--batch", "20", "--steps", "1", "--sigma", "4", "--delta", "1e-3"]
    assert run([*asked, "--sampling", "all", "--seconds", "60"]) == 0
    told = capsys.readouterr().out
    assert told.count("theorem: ") >= 3
    assert "refused: --sampling truncated needs cap" in told
    found = document([*asked, "--sampling", "all", "--cap", "40", "--seconds", "60"], capsys)
    for row in found["samplings"]:
        assert (row["result"] is None) == (row["refused"] is not None)
        if row["result"] is not None:
            PARTS["result"].validate({"schema": 1, **row["result"]})
            assert row["run"]["theorem"]


def test_shuffled_epochs_never_get_the_poisson_number(capsys: Captured) -> None:
    asked = ["train", "--records", "1000", "--batch", "100", "--epochs", "2", "--sigma", "3", "--delta", "1e-4"]
    assert run([*asked, "--sampling", "shuffled"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "the Poisson number is no bound for it" in told
    assert "a record is replaced;" in told
    poisson = tr.training(records=1000, batch=100, epochs=2, sigma=3.0).epsilon(1e-4)
    assert float(told.split("epsilon in [")[1].split(",")[0]) > poisson.upper  # already its lower end


SHARED = ["train", "--records", "100", "--sigma", "6", "--delta", "1e-4"]


def test_noise_that_steps_share(tmp_path: Path, capsys: Captured) -> None:
    asked = [*SHARED, "--matrix", "banded:2", "--epochs", "2", "--bins", "5"]
    assert run(asked) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "10 steps: MatrixMechanism(sigma=6.0, toeplitz=(1.0, 0.5), steps=10, bins=5)" in told
    assert "noise: C^-1 Z, C the square root of the running sums cut to 2 bands; Z has deviation sigma" in told
    assert "(--sampling bins); neighbours: a record is added or removed" in told
    found = document(asked, capsys)
    made = tr.parse(found["run"]["expression"])
    assert made == tr.training(records=100, sigma=6, matrix="banded:2", epochs=2, bins=5)
    assert found["run"]["noise"].endswith("cut to 2 bands")
    plain = document([*SHARED, "--epochs", "2", "--bins", "5"], capsys)
    assert "noise" not in plain["run"]
    assert plain["result"]["upper"] < found["result"]["lower"]


@pytest.mark.parametrize(
    ("name", "text", "keyword"),
    [
        ("c.json", "[1, 0.5, 0.25]", "toeplitz"),
        ("c.json", '{"toeplitz": [1, 0.5, 0.25]}', "toeplitz"),
        ("c.json", '{"inverse": [1, 0.5, 0.25]}', "inverse"),
        ("C.CSV", "1,0.5\n0.25\n", "toeplitz"),
    ],
)
def test_coefficients_from_a_file(name: str, text: str, keyword: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / name).write_text(text)
    asked = [*SHARED, "--batch", "10", "--epochs", "2", "--separation", "3", "--matrix", str(tmp_path / name)]
    found = document(asked, capsys)
    more: dict[str, Any] = {keyword: [1, 0.5, 0.25]}
    assert tr.parse(found["run"]["expression"]) == tr.training(
        records=100, sigma=6, batch=10, epochs=2, separation=3, **more
    )


@pytest.mark.parametrize("text", ["[]", "[true]", "[[1, 2]]", '{"toeplitz": 3}', '{"other": [1]}', '"abc"'])
def test_a_file_without_coefficients_says_what_it_needs(text: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "c.json").write_text(text)
    assert run([*SHARED, "--epochs", "2", "--bins", "5", "--matrix", str(tmp_path / "c.json")]) != 0
    assert "--matrix takes a file with a list of numbers" in capsys.readouterr().err


def test_messages_about_shared_noise_name_options(capsys: Captured) -> None:
    for more, words in (
        (["--matrix", "banded:2", "--batch", "10"], "--sampling poisson has no bound"),
        (["--matrix", "tree", "--bins", "10"], "state --sampling in_order or 'any_order', or --matrix banded:K"),
        (["--bins", "5", "--batch", "?", "--epsilon", "1"], "bins"),
    ):
        assert run([*SHARED, "--epochs", "2", *more]) != 0
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--bins", "10"], ["--batch", "10", "--separation", "3"]])
def test_the_least_noise_that_steps_share(more: list[str], capsys: Captured) -> None:
    asked = ["train", "--records", "100", "--delta", "1e-4", "--matrix", "banded:2", "--epochs", "2", *more]
    found = document([*asked, "--sigma", "?", "--epsilon", "1", "--seconds", "30"], capsys)
    assert found["calibration"]["bound"]["upper"] <= 1.0 < found["calibration"]["missed"]["lower"]
    assert found["calibration"]["value"] <= 1.05 * found["calibration"]["missed"]["value"]


def test_loaders_that_go_with_shared_noise(capsys: Captured) -> None:
    asked = [*SHARED, "--batch", "10", "--epochs", "2", "--matrix", "banded:2", "--sampling", "all"]
    found = document([*asked, "--bins", "10", "--seconds", "60"], capsys)
    assert [row["sampling"] for row in found["samplings"]] == ["in_order", "any_order", "bins", "groups"]
    assert all(row["result"] is not None for row in found["samplings"])


def test_libraries_are_compared(capsys: Captured) -> None:
    """A coarse run: the grid of the one that has a grid is short."""
    asked = ["train", "--records", "1000", "--batch", "10", "--epochs", "1", "--sigma", "4", "--delta", "1e-4"]
    assert run([*asked, "--sampling", "truncated", "--cap", "50", "--compare"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for name in ("RDP, Opacus 1.6.0", "RDP, TF-Privacy 0.9.0", "PLD, Google dp-accounting 0.6.0"):
        assert name in told
    assert "none of these numbers holds for the run above" in told
    found = document([*asked, "--compare"], capsys)
    assert found["comparison"]["expression"] == found["run"]["expression"]
    assert len(found["comparison"]["methods"]) == 3


RUN = ["--records", "60000", "--batch", "256", "--epochs", "15", "--sigma", "1.1"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "train needs --records, --batch, --sigma, --epochs (or --steps)"),
        (["--records", "60000", "--delta", "1e-5"], "train needs --batch"),
        (RUN, "needs --delta, the chance that epsilon may leave out: commonly at most 1/(10 records), --delta 1.6e-06"),
        ([*RUN, "--delta", "1e-5", "--epsilon", "3"], "write '?' for it"),
        ([*RUN[:-1], "?", "--delta", "1e-5"], "to find sigma, say what to meet"),
        ([*RUN[:-1], "lots", "--delta", "1e-5"], "--sigma takes a number, '?'"),
        ([*RUN[:-1], "v", "--delta", "1e-5"], "the shell may have put the name of a file for ?: quote it, '?'"),
        ([*RUN[:-1], "1,2", "--delta", "1e-5"], "tightrope sweep"),
        ([*RUN, "--delta", "1e-5", "--steps", "3"], "leave out one of them"),
        ([*RUN, "--delta", "1e-5", "--schedule", "1,1,1"], "leave out --"),
        ([*RUN, "--delta", "1e-5", "--sampling", "truncated"], "--sampling truncated needs cap"),
        ([*RUN, "--delta", "1e-5", "--points", "3"], "a second '?'"),
        ([*RUN, "--delta", "1e-5", "--plot", "run.txt"], "png"),
        ([*RUN, "--delta", "1e-5", "--plot", "none/run.png"], "there is no folder 'none'; make it first"),
        ([*RUN, "--delta", "1e-5", "--csv", "none/run.csv"], "there is no folder 'none'; make it first"),
        ([*RUN[:-1], "?", "--epsilon", "3", "--delta", "1e-5", "--sampling", "all"], "about one run"),
        ([*RUN, "--delta", "1e-5", "--sampling", "all", "--compare"], "about one run"),
        ([*RUN[:-1], "?", "--epsilon", "3", "--delta", "1e-5", "--accuracy", "1e-3"], "leave it out"),
        (["--records", "100", *RUN[2:], "--delta", "1e-5"], "batch must be at most records, 100, not 256"),
        (["--records", "9", "--schedule", "no.csv", "--delta", "1e-5"], "no.csv"),
        (["--records", "9", "--schedule", "1,x,1", "--delta", "1e-5"], "STEPS,SIGMA,BATCH"),
    ],
)
def test_odd_inputs_get_an_answer_that_helps(arguments: list[str], told: str, capsys: Captured) -> None:
    assert run(["train", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert told in captured.err
    assert captured.err.count("\n") == 1


def test_no_epochs_and_a_large_delta_are_answered(capsys: Captured) -> None:
    assert run(["train", *RUN[:5], "0", *RUN[6:], "--delta", "1e-3"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("epsilon in [0, 0]")
    assert "commonly delta is at most 1/(10 records), 1.6e-06" in told


def test_an_accuracy_that_is_not_reached_exits_with_3(capsys: Captured) -> None:
    asked = ["train", "--records", "100", "--batch", "20", "--steps", "1", "--sigma", "4", "--delta", "1e-3"]
    assert run([*asked, "--sampling", "with_replacement", "--accuracy", "1e-9"]) == 3
    captured = capsys.readouterr()
    assert captured.out.startswith("epsilon in ")
    assert captured.err


def test_what_cannot_be_drawn_hides_no_answer(tmp_path: Path, capsys: Captured) -> None:
    """A delta of 0 has no finite epsilon to draw."""
    picture = tmp_path / "none.png"
    assert run([*SMALL[:-1], "0", "--epochs", "1", "--sigma", "2", "--plot", str(picture)]) == 3
    captured = capsys.readouterr()
    assert captured.out.startswith("epsilon in [inf, inf] at delta 0")
    assert "nothing to draw" in captured.err
    assert not picture.exists()


def test_schedules_come_from_files_and_words(tmp_path: Path, capsys: Captured) -> None:
    rows = [[1000.0, 1.3, 256.0], [2000.0, 1.0, 512.0]]
    sheet, lists, names = tmp_path / "plan.csv", tmp_path / "plan.json", tmp_path / "names.json"
    sheet.write_text("batch,steps,sigma\n256,1000,1.3\n512,2000,1.0\n")
    lists.write_text(json.dumps(rows))
    names.write_text(json.dumps([{"steps": a, "sigma": b, "batch": c} for a, b, c in rows]))
    for words in ([str(sheet)], [str(lists)], [str(names)], ["1000,1.3,256", "2000,1.0,512"]):
        assert read_schedule(words) == rows
    assert run(["train", "--records", "60000", "--schedule", str(sheet), "--delta", "1e-5"]) == 0
    assert "schedule=((1000, 1.3, 256), (2000, 1.0, 512))" in capsys.readouterr().out
    for text in ("", "steps,sigma\n1,2\n", "steps,sigma,batch\n1,x,3\n"):
        sheet.write_text(text)
        with pytest.raises(tr.DataError, match=r"plan\.csv"):
            read_schedule([str(sheet)])
    for text in ("{}", "[1]", "[[1, 2]]", "nothing"):
        lists.write_text(text)
        with pytest.raises(tr.DataError, match=r"plan\.json"):
            read_schedule([str(lists)])


def test_numbers_and_common_values() -> None:
    assert read_number("epochs", " 15 ") == 15
    assert read_number("sigma", "1.5,2") == (1.5, 2)
    assert read_number("batch", "10_000") == 10000
    assert read_number("sigma", "'?'") == "?"
    assert common("epochs", 7, 60000) == (1, 2, 5, 10, 20, 50, 100)
    assert common("batch", 7, 60000) == (64, 128, 256, 512, 1024, 2048, 4096)
    assert common("batch", 3, 100)[-1] == 100
    assert common("batch", 2, 8) == (8,)
    for word in ("nan", "inf", "", "1,,2", "0x10"):
        with pytest.raises(tr.InvalidParameter, match="--sigma takes"):
            read_number("sigma", word)
