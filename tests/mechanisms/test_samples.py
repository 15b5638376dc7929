"""Raw draws: the same bins for both, streamed from every kind of file, and confidence that chosen bins do not spoil."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.search import cases
from tightrope.core.losses.finite import histogram
from tightrope.core.losses.finite.histogram import lower_limit, upper_limit
from tightrope.core.mechanisms import histograms as binning
from tightrope.core.mechanisms import samples
from tightrope.core.mechanisms import samples as data_file
from tightrope.core.mechanisms.histograms import Histograms
from tightrope.core.values.errors import DataError, InvalidParameter

A = [0.5, 1.5, 1.7, 2.5, -3.0, 9.0]
B = [0.1, 0.2, 1.1, 2.9, 2.0, 4.0]


def test_edges_make_bins_that_hold_every_draw() -> None:
    measured = Histograms(A, B, samples=True, bins=[0, 1, 2, 3])
    assert (measured.a, measured.b) == ((2, 2, 2), (2, 1, 3))  # below 1, from 1 to below 2, from 2 on
    assert Histograms(A, B, samples=True, bins=np.array([0.0, 1.0, 2.0, 3.0])) == measured
    assert Histograms(iter(A), (value for value in B), samples=True, bins=[-np.inf, 1, 2, np.inf]) == measured
    assert eval(repr(measured), {"Histograms": Histograms}) == measured  # the numbers, wherever they came from


def test_a_width_has_its_edges_at_multiples_and_a_number_divides_the_range() -> None:
    one = Histograms(A, B, samples=True, width=1)
    assert one.a == (1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 0, 0, 1)
    assert one.b == (0, 0, 0, 2, 1, 2, 0, 1, 0, 0, 0, 0, 0)
    assert Histograms(A, B, samples=True, bins=0.5) == Histograms(A, B, samples=True, width=0.5)
    assert Histograms(A, B, samples=True, bins=3).a == (2, 3, 1)  # -3, 1, 5, 9
    assert Histograms(A, B, samples=True, bins=2).a == (5, 1)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"bins": 4, "width": 1.0},
        {"bins": 50.0},
        {"bins": 1},
        {"bins": 10**6},
        {"bins": True},
        {"bins": "ten"},
        {"bins": [1, 2]},
        {"bins": [1, 2, 2]},
        {"bins": [1, float("nan"), 2]},
        {"bins": [1, "x", 2]},
        {"width": 0},
        {"width": float("inf")},
        {"width": float("nan")},
        {"width": "1"},
        {"width": 1e-9},
        {"width": 1e9},
        {"bins": [0, 1, 2], "column": "ms"},
        {"bins": [0, 1, 2], "kind": "probabilities"},
    ],
)
def test_bins_that_cannot_be_are_refused_in_one_line(given: dict[str, Any]) -> None:
    with pytest.raises((InvalidParameter, DataError)) as caught:
        Histograms([1.0, 2.0], [1.0, 3.0], samples=True, **given)
    assert "\n" not in str(caught.value)


def test_bins_without_samples_are_refused() -> None:
    for given in ({"bins": 3}, {"width": 1.0}, {"column": "ms"}):
        with pytest.raises(InvalidParameter, match="samples=True"):
            Histograms([1, 2], [1, 3], **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        Histograms([1, 2], [1, 3], samples="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [1.0, float("inf")], [[1.0, 2.0]], ["1"], [None], 7])
def test_what_is_no_row_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(DataError):
        Histograms(values, B, samples=True, bins=[0, 1, 2])


def _files(folder: Path, values: np.ndarray) -> list[tuple[Path, str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = [repr(float(value)) for value in values]
    np.save(folder / "one.npy", values)
    np.save(folder / "whole.npy", np.rint(values).astype(np.int32))
    (folder / "bare.csv").write_text("\n".join(lines) + "\n")
    (folder / "headed.csv").write_text("# a comment\nms\n" + "\n\n".join(lines))
    (folder / "wide.csv").write_bytes(
        ("\ufeffid, ms ,what\r\n" + "".join(f'{i},{line},"a, b"\r\n' for i, line in enumerate(lines))).encode()
    )
    pq.write_table(pa.table({"ms": values}), folder / "one.parquet")
    pq.write_table(pa.table({"id": np.arange(len(values)), "ms": values}), folder / "two.parquet", row_group_size=7)
    return [
        (folder / "one.npy", ""),
        (folder / "bare.csv", ""),
        (folder / "headed.csv", ""),
        (folder / "headed.csv", "ms"),
        (folder / "wide.csv", "ms"),
        (folder / "one.parquet", ""),
        (folder / "two.parquet", "ms"),
    ]


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_files_of_every_kind_give_the_same_in_chunks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(samples, "ROWS", rows)
    draws = np.random.default_rng(1).normal(size=100)
    for bins in ([-1.0, 0.0, 0.5, 1.0], 7):
        direct = Histograms(draws, draws[::-1] + 0.25, samples=True, bins=bins)
        assert sum(direct.a) == 100
        for path, column in _files(tmp_path, draws):
            assert Histograms(path, path, samples=True, bins=bins, column=column).a == pytest.approx(
                Histograms(draws, draws, samples=True, bins=bins).a
            ), path
    assert np.concatenate(list(samples.chunks(str(tmp_path / "wide.csv"), "a", "ms"))).tolist() == draws.tolist()


def test_a_tenth_of_the_draws_chooses_the_bins_only_where_confidence_needs_it() -> None:
    draws = np.random.default_rng(2).normal(size=20_000)
    sure = Histograms(draws, draws, samples=True, bins=10, confidence=0.95)
    plain = Histograms(draws, draws, samples=True, bins=10)
    given = Histograms(draws, draws, samples=True, bins=[-1, 0, 1], confidence=0.95)
    assert sum(plain.a) == sum(plain.b) == sum(given.a) == 20_000
    assert 17_700 < sum(sure.a) < 18_300
    assert sure.a != sure.b  # other draws of each
    assert sure == Histograms(draws, draws, samples=True, bins=10, confidence=0.95)  # the same every time


def test_which_draws_choose_the_bins_does_not_depend_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [
        np.concatenate(list(binning._pilot(iter([np.arange(500.0)[order]]), 0, True)))
        for order in (np.arange(500), np.arange(500)[::-1])
    ]
    assert chosen[0].tolist() == (499.0 - chosen[1]).tolist()
    rest = np.concatenate(list(binning._pilot(iter([np.arange(250.0), np.arange(250.0, 500.0)]), 0, False)))
    assert sorted([*rest, *chosen[0]]) == np.arange(500.0).tolist()


def test_bins_chosen_from_the_data_keep_the_stated_confidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst bins for coverage are those that data chose: the bound must still hold in the stated share of runs."""
    monkeypatch.setattr(histogram, "upper_limit", functools.cache(upper_limit))
    monkeypatch.setattr(histogram, "lower_limit", functools.cache(lower_limit))
    generator = np.random.default_rng(8)
    held, runs, confidence = 0, cases(40, 400), 0.6
    for _ in range(runs):
        edges: list[np.ndarray] = []
        original = binning._equal

        def noted(
            low: float, high: float, count: int, edges: list[np.ndarray] = edges, original: Any = original
        ) -> np.ndarray:
            edges.append(original(low, high, count))
            return edges[-1]

        with monkeypatch.context() as patch:
            patch.setattr(binning, "_equal", noted)
            first, second = generator.random(220), generator.random(220) ** 1.2
            measured = Histograms(first, second, samples=True, bins=3, confidence=confidence)
        cuts = np.concatenate([[0.0], np.clip(edges[0][1:-1], 0.0, 1.0), [1.0]])
        p, q = np.diff(cuts), np.diff(cuts ** (1 / 1.2))
        good = True
        for epsilon in (0.0, 0.1, 0.3):
            truth = max(np.maximum(p - np.exp(epsilon) * q, 0).sum(), np.maximum(q - np.exp(epsilon) * p, 0).sum())
            good = good and measured.delta(epsilon).upper >= truth - 1e-12
        held += good
    assert held >= confidence * runs


@pytest.mark.parametrize(
    "name, text, line, word",
    [
        ("bad.csv", "ms\n1.5\nsecret\n2\n", 3, "number"),
        ("bad.csv", "1.5\n\n# x\n2,3\n\nsecret\n", 6, "number"),
        ("bad.csv", "secret,1\n", None, "column="),
        ("bad.csv", "id,ms\n1,2\n", None, "column="),
        ("bad.csv", "1.5\nnan\n", None, "place 2"),
        ("bad.csv", "1.5\n1e999\n", None, "place 2"),
        ("bad.csv", "", None, "no draws"),
        ("bad.csv", "ms\n", None, "no draws"),
        ("bad.csv", "9" * 70_000, 1, "bytes"),
        ("bad.npy", "secret", None, "numpy"),
        ("bad.parquet", "secret", None, "Parquet"),
    ],
)
def test_what_is_wrong_in_a_file_of_draws_is_named_but_not_shown(
    tmp_path: Path, name: str, text: str, line: int | None, word: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=word) as caught:
        Histograms(tmp_path / name, B, samples=True, bins=[0, 1, 2])
    assert caught.value.line == line
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_line_with_too_few_columns_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("id,ms\n1,1.5\n2\n3,4\n")
    with pytest.raises(DataError, match="columns") as caught:
        Histograms(tmp_path / "bad.csv", B, samples=True, bins=[0, 1, 2], column="ms")
    assert caught.value.line == 3


def test_columns_are_found_by_name_or_refused(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("1\n2\n")
    (tmp_path / "twice.csv").write_text("ms,ms\n1,2\n")
    for name, column in (("bare.csv", "ms"), ("twice.csv", "ms"), ("twice.csv", "s")):
        with pytest.raises(DataError, match="heading"):
            Histograms(tmp_path / name, B, samples=True, bins=[0, 1, 2], column=column)


def test_parquet_says_what_to_install_and_refuses_what_is_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for column in (["a", "b"], [1.0, None], [[1.0], [2.0]]):
        pq.write_table(pa.table({"ms": column}), tmp_path / "odd.parquet")
        with pytest.raises(DataError):
            Histograms(tmp_path / "odd.parquet", B, samples=True, bins=[0, 1, 2])
    pq.write_table(pa.table({"bin": ["x", "y"], "count": [3, 4]}), tmp_path / "counts.parquet")
    assert Histograms(tmp_path / "counts.parquet", tmp_path / "counts.parquet").a == (3, 4)
    pq.write_table(pa.table({"bin": ["x", "y"], "ms": [3, 4]}), tmp_path / "raw.parquet")
    with pytest.raises(DataError, match="samples=True"):
        Histograms(tmp_path / "raw.parquet", tmp_path / "counts.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for given in ({"samples": True, "bins": [0, 1, 2]}, {}):
        with pytest.raises(DataError, match=r"pip install '\S+\[parquet\]'"):
            Histograms(tmp_path / "counts.parquet", B, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["1200\n1310\n1190\n", "ms\n1200\n1310\n1190\n", "run,ms\n1,1200\n2,1310\n3,1190\n", "1,1200\n2,1310\n"]
)
def test_a_file_of_raw_draws_is_not_read_as_counts(tmp_path: Path, text: str) -> None:
    """Whole numbers of nanoseconds look like counts; only a heading or the caller can tell."""
    path = tmp_path / "timings.csv"
    path.write_text(text)
    with pytest.raises(DataError, match="samples=True") as caught:
        Histograms(path, path, confidence=0.95)
    assert "samples=False" in str(caught.value)
    assert Histograms(path, path, samples=False)
    for heading in ("count", "Counts", "bin, frequency"):
        path.write_text(f"{heading}\n" + "\n".join(["1,5", "2,6"] if "," in heading else ["5", "6"]))
        assert Histograms(path, path).a == (5, 6)


def test_raw_draws_in_arrays_are_refused_with_the_hint() -> None:
    with pytest.raises(DataError, match="samples=True"):
        Histograms([12.5, 13.25], [12.0, 13.0])
    with pytest.raises(DataError, match="samples=True"):
        Histograms([1200, 1310, 1190], [1200, 1310])


def test_only_regular_files_of_a_sensible_size_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "big.csv").write_text("count\n1\n2\n")
    for path in (tmp_path / "pipe.csv", tmp_path / "folder.csv", Path("/dev/zero"), tmp_path / "absent.csv"):
        for given in ({"samples": False}, {"samples": True, "bins": [0, 1, 2]}):
            with pytest.raises(DataError):
                Histograms(path, [1, 2], **given)  # type: ignore[arg-type]
    assert data_file.COUNTS_BYTES < data_file.SAMPLES_BYTES
    monkeypatch.setattr("tightrope.core.mechanisms.histograms.COUNTS_BYTES", 4)
    monkeypatch.setattr(samples, "SAMPLES_BYTES", 4)
    for given in ({"samples": False}, {"samples": True, "bins": [0, 1, 2]}):
        with pytest.raises(DataError, match="bytes"):
            Histograms(tmp_path / "big.csv", [1, 2], **given)  # type: ignore[arg-type]


def test_titles_name_the_files_and_repr_holds_the_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("count\n5\n6\n")
    one = Histograms(str(tmp_path / "a.csv"), [5, 7], confidence=0.9)
    assert str(one) == f"Histograms(a='{tmp_path / 'a.csv'}', b=(5, 7), confidence=0.9)"
    assert repr(one) == "Histograms(a=(5, 6), b=(5, 7), confidence=0.9)"
    assert str(one.group(size=1) * 3) == f"{one}.group(size=1) * 3"
    assert one == Histograms([5, 6], [5, 7], confidence=0.9)
    many = Histograms(list(range(100)), list(range(100)))
    assert str(many) == "Histograms(a=[100 numbers], b=[100 numbers])"


@pytest.mark.parametrize(
    "text, word",
    [(b"1\n2\n\xff\n3\n", "text"), (b"1\n2\n" + b"9" * 70_000, "bytes"), (b'1\n2\n"' + b"3\n" * 9, "number")],
)
def test_trouble_further_down_is_named_by_line(tmp_path: Path, text: bytes, word: str) -> None:
    (tmp_path / "bad.csv").write_bytes(text)
    with pytest.raises(DataError, match=word) as caught:
        Histograms(tmp_path / "bad.csv", B, samples=True, bins=[0, 1, 2])
    assert caught.value.line is not None
    assert caught.value.line >= 3
