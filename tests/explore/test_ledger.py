"""A ledger on the page: as the ledger says it, read only, and nobody waits for one that is away."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.explore.test_server import Open
from tests.ledger import cluster
from tightrope import ledger
from tightrope.cli.app import run as command_line
from tightrope.explore import ledger_views
from tightrope.explore.answers import LEDGER_KINDS, answer
from tightrope.explore.lanes import OF_LEDGER
from tightrope.explore.ledger import NO_LEDGER, LedgerReader
from tightrope.explore.server import state
from tightrope.ledger import table
from tightrope.ledger.history import thinned
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.operations import READS, WRITES
from tightrope.version import install_command

JOB = "Gaussian(sigma=20)"
WHOLE: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6}


def filled(url: str) -> Ledger:
    """A tree, a budget that counts without end, one that is frozen; jobs in every state."""
    found = ledger.init(url, principal="boss")
    found.create("census", epsilon=2.0, ceiling=3.0, **WHOLE)
    found.create("census/health", epsilon=1.0, parent="census", **WHOLE)
    found.create("logs", kind="odometer", **WHOLE)
    found.create("old", kind="zcdp", rho=0.5, relation="add_remove", unit="one person")
    with found.spend("census/health", JOB, key="spent"):
        pass
    found.reserve({"census/health": "Laplace(scale=20)"}, key="held", note="table 7")
    found.reserve({"logs": JOB}, key="running", start=True)
    found.freeze("old", "to see it")
    return found


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Ledger]:
    with filled(f"sqlite:///{tmp_path / 'budget.db'}") as found:
        yield found


@pytest.fixture
def reader(kept: Ledger, tmp_path: Path) -> Iterator[LedgerReader]:
    with closing(LedgerReader(f"sqlite:///{tmp_path / 'budget.db'}")) as found:
        yield found


def lines(kept: Ledger) -> list[int]:
    """How many lines every chain has."""
    return [len(list(kept.audit(root))) for root in ("census", "logs", "old")]


def test_the_tree_says_how_much_of_each_is_used(kept: Ledger, reader: LedgerReader) -> None:
    found = answer({"kind": "ledger"}, ledger=reader)
    assert [(each["name"], each["depth"], each["state"]) for each in found["tree"]] == [
        ("census", 0, "open"),
        ("census/health", 1, "open"),
        ("logs", 0, "open"),
        ("old", 0, "frozen"),
    ]
    words = {each["name"]: each["words"] for each in found["tree"]}
    assert words["census"] == table.used_words(kept.status("census"))
    assert words["logs"] == table.odometer_words(kept.status("logs"))
    assert found["budget"]["name"] == "census"


@pytest.mark.parametrize("name", ["census", "census/health", "logs", "old"])
def test_a_budget_is_told_in_the_words_and_roundings_of_the_ledger(
    kept: Ledger, reader: LedgerReader, name: str
) -> None:
    status = kept.status(name)
    found = answer({"kind": "ledger", "budget": name}, ledger=reader)["budget"]
    assert found["promise"] == table.promised(status)
    assert found["odometer"] == table.odometer_words(status)
    assert found["state"] == status["state"]
    assert found["axes"] == table.axes_rows(status)[1:]
    assert found["notes"] == table.axes_notes(status)
    assert all(len(row) == len(found["headings"]) for row in found["axes"])
    told = table.status_text(status)
    assert all(each in told for each in found["about"].split(", "))


def test_orders_that_never_lived_are_one_line(kept: Ledger, reader: LedgerReader) -> None:
    never = [axis["name"] for axis in kept.status("census")["axes"] if axis["dead"] and not axis["ceiling"]]
    found = answer({"kind": "ledger", "budget": "census"}, ledger=reader)["budget"]
    assert never
    assert not {row[0] for row in found["axes"]} & set(never)
    (line,) = [each for each in found["notes"] if "not even at first" in each]
    assert line.endswith(f": {', '.join(each.removeprefix('order ') for each in never)}.")


def test_a_budget_whose_parent_is_not_seen_is_shown_as_a_root() -> None:
    rows = [
        {"name": name, "parent": parent, "kind": "basic", "state": "open"}
        for name, parent in (("b", "hidden"), ("c", "b"))
    ]
    assert [(each["name"], depth) for each, depth in table.budget_tree(rows)] == [("b", 0), ("c", 1)]
    assert [line.split()[0] for line in table.budgets_text(rows, {}).splitlines()] == ["budget", "b", "c"]


def test_a_name_that_is_not_there_leaves_the_tree(reader: LedgerReader) -> None:
    found = answer({"kind": "ledger", "budget": "gone"}, ledger=reader)
    assert len(found["tree"]) == 4
    assert "there is no budget 'gone'" in found["budget"]["error"]


def test_every_move_changes_the_version_and_nothing_else_does(kept: Ledger, reader: LedgerReader) -> None:
    def version() -> str:
        return str(answer({"kind": "ledger", "budget": "census"}, ledger=reader)["budget"]["version"])

    seen = [version()]
    assert version() == seen[0]
    job = kept.reserve({"census/health": JOB}, key="moves")
    for move in (lambda: None, job.claim, job.commit, lambda: kept.renew("census", epsilon=2.5)):
        move()
        seen.append(version())
    assert len(set(seen)) == len(seen)


def test_the_past_ends_where_the_counters_stand(kept: Ledger, reader: LedgerReader) -> None:
    found = answer({"kind": "ledger-past", "budget": "census"}, ledger=reader)
    status = kept.status("census")
    axes = {axis["name"]: axis for axis in status["axes"]}
    assert [each["label"] for each in found["series"]] == [axis["name"] for axis in table.telling(status)]
    for each in found["series"]:
        axis, last = axes[each["label"]], each["points"][-1]
        assert last["low"] == pytest.approx(100 * axis["spent"] / axis["ceiling"])
        assert last["high"] == pytest.approx(100 * (axis["spent"] + axis["held"]) / axis["ceiling"])
        assert len(each["points"]) == len(found["times"])
        for point in each["points"]:  # rounded up, so nobody reads that less was used
            assert float(point["lowText"].removesuffix(" %")) >= point["low"] - 1e-9
            assert float(point["highText"].removesuffix(" %")) >= point["high"] - 1e-9
    times = [each["x"] for each in found["times"]]
    assert times == sorted(times)
    assert found["guides"][0]["y"] == pytest.approx(
        100 * axes[found["series"][0]["label"]]["total"] / axes[found["series"][0]["label"]]["ceiling"]
    )
    assert json.loads(found["json"])["name"] == "census"


def test_the_past_of_a_budget_without_end_is_its_odometer(kept: Ledger, reader: LedgerReader) -> None:
    found = answer({"kind": "ledger-past", "budget": "logs"}, ledger=reader)
    (series,) = found["series"]
    assert series["points"][-1]["high"] == kept.status("logs")["odometer"]["epsilon"]


def test_after_a_recovery_no_odometer_is_drawn(kept: Ledger, reader: LedgerReader) -> None:
    kept.freeze("logs", "to see it")
    kept.recover("logs", "to see it again")
    assert "reason" in kept.status("logs")["odometer"]
    found = answer({"kind": "ledger-past", "budget": "logs"}, ledger=reader)
    assert [each["points"] for each in found["series"]] == [[]]


def test_the_newest_jobs_stand_first(reader: LedgerReader) -> None:
    jobs = answer({"kind": "ledger-past", "budget": "census"}, ledger=reader)["jobs"]
    assert [(each["job"], each["who"], each["state"], each["on"], each["note"]) for each in jobs] == [
        ("Laplace(scale=20.0)", "boss", "reserved", "census/health", "table 7"),
        ("Gaussian(sigma=20.0)", "boss", "committed", "census/health", ""),
    ]


def test_a_chart_has_few_moments_and_the_last_one() -> None:
    many = [{"at": at} for at in range(5 * ledger_views.PAST_MOMENTS_MAX + 3)]
    some = thinned(many, ledger_views.PAST_MOMENTS_MAX)
    assert len(some) <= ledger_views.PAST_MOMENTS_MAX + 1
    assert (some[0], some[-1]) == (many[0], many[-1])
    assert thinned([], ledger_views.PAST_MOMENTS_MAX) == []
    assert thinned(many[:7], ledger_views.PAST_MOMENTS_MAX) == many[:7]


@pytest.mark.parametrize("root", ["census", "logs"])
def test_a_recovery_is_said_once(kept: Ledger, reader: LedgerReader, root: str) -> None:
    kept.freeze(root, "to see it")
    kept.recover(root, "to see it again")
    newest = answer({"kind": "ledger-past", "budget": root}, ledger=reader)["jobs"][0]
    assert (newest["job"], newest["note"], newest["on"]) == ("recovery", "", "")


def test_a_quote_says_how_many_more_and_holds_nothing(kept: Ledger, reader: LedgerReader) -> None:
    before = lines(kept)
    found = answer({"kind": "ledger-more", "budget": "census/health", "text": JOB}, ledger=reader)
    more = kept.quote("census/health", JOB).more
    assert found["words"] == [f"how many more like this: {more} (Gaussian(sigma=20.0))"]
    status = kept.status("census/health", JOB)
    assert [found["headings"], *found["cost"]] == table.cost_rows(status, status["more"]["units"])
    endless = answer({"kind": "ledger-more", "budget": "logs", "text": JOB}, ledger=reader)
    assert [row[0] for row in endless["cost"]] == ["slack"]
    too_much = answer({"kind": "ledger-more", "budget": "census/health", "text": "Gaussian(sigma=0.1)"}, ledger=reader)
    assert too_much["words"][0].startswith("how many more like this: 0")
    assert lines(kept) == before


@pytest.mark.parametrize("text", ["Gaussian(sigm=1)", "Gaussian(sigma=?)", "", "x" * 20_000])
def test_a_job_that_cannot_be_read_takes_one_line(reader: LedgerReader, text: str) -> None:
    found = answer({"kind": "ledger-more", "budget": "census", "text": text}, ledger=reader)
    assert found["error"]
    assert "\n" not in found["error"]


@pytest.mark.parametrize("budget", [7, None, ["census"], "x" * 300])
def test_what_is_no_name_is_refused(reader: LedgerReader, budget: Any) -> None:
    found = answer({"kind": "ledger-past", "budget": budget}, ledger=reader)
    assert "must be the name of one" in found["error"]


def test_only_what_reads_can_be_asked(kept: Ledger, reader: LedgerReader) -> None:
    """By the names of all writes, plain and in the words of the page, with bodies that would do."""
    before = lines(kept)
    body = {"name": "census", "budget": "census", "root": "census", "why": "x", "jobs": {"census": JOB}, "text": JOB}
    for name in (*WRITES, "audit", "anchor", "verify", "backup"):
        for kind in (name, f"ledger-{name}", f"ledger.{name}", f"ledger/{name}"):
            if kind == "audit":  # of scores, without a ledger
                continue
            assert "the page asks for" in answer({**body, "kind": kind}, ledger=reader)["error"]
    for kind in LEDGER_KINDS:
        answer({**body, "kind": kind, "start": True, "key": "x", "commit": True}, ledger=reader)
    assert lines(kept) == before
    reads = {name for name in vars(LedgerReader) if not name.startswith("_")} - {"shown", "find", "close"}
    assert reads <= set(READS)
    assert tuple(LEDGER_KINDS) == OF_LEDGER


def test_without_a_ledger_there_is_none() -> None:
    assert answer({"kind": "menu"})["ledger"] is None
    for kind in LEDGER_KINDS:
        assert answer({"kind": kind, "budget": "x", "text": JOB})["error"] == NO_LEDGER


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///a folder/b.db", "a folder/b.db"),
        ("postgresql://ana:secret@db:5432/x", "postgresql://ana:***@db:5432/x"),
        ("postgresql://ana@/x?host=/run&password=secret&port=1", "postgresql://ana@/x?host=%2Frun&password=***&port=1"),
        ("https://ana:secret@ledger.example/x", "https://ana:***@ledger.example/x"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert LedgerReader(url, "trl_secret").shown == shown


def test_one_that_is_away_is_told_in_one_line_and_found_when_it_is_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'later.db'}"
    with closing(LedgerReader(url)) as reader:
        found = answer({"kind": "ledger"}, ledger=reader)
        assert "there is no ledger" in found["error"]
        assert "\n" not in found["error"]
        filled(url).close()
        assert len(answer({"kind": "ledger"}, ledger=reader)["tree"]) == 4


@pytest.mark.postgresql
@pytest.mark.skipif(not os.environ.get(cluster.ADDRESS), reason="make test-ledger starts PostgreSQL")
def test_a_postgresql_that_ends_and_begins_again() -> None:
    with cluster.Cluster() as server, closing(LedgerReader(server.fresh())) as reader:
        filled(reader._url).close()
        assert len(answer({"kind": "ledger"}, ledger=reader)["tree"]) == 4
        server.kill()
        away = answer({"kind": "ledger"}, ledger=reader)["error"]
        assert "does not answer" in away
        assert "\n" not in away
        server.start()
        assert len(answer({"kind": "ledger"}, ledger=reader)["tree"]) == 4


# The server, with processes of its own.


@pytest.fixture
def explorer(kept: Ledger, tmp_path: Path) -> Iterator[Open]:
    opened = Open("--ledger", str(tmp_path / "budget.db"))
    yield opened
    opened.close()


@pytest.mark.clock
def test_the_server_reads_and_refuses_to_write(explorer: Open, kept: Ledger, tmp_path: Path) -> None:
    before = lines(kept)
    assert explorer.ask({"kind": "menu"})["ledger"] == str(tmp_path / "budget.db")
    assert len(explorer.ask({"kind": "ledger"})["tree"]) == 4
    assert explorer.ask({"kind": "ledger-past", "budget": "census"})["jobs"]
    assert explorer.ask({"kind": "ledger-more", "budget": "census", "text": JOB})["words"]
    for name in WRITES:
        body = {"kind": name, "jobs": {"census": JOB}, "root": "census", "why": "x", "name": "census", "start": True}
        assert "the page asks for" in explorer.ask(body)["error"]
        wrapped = json.dumps({"client": "a", "spot": "b", "question": {"kind": "ledger"}, "name": name, **body})
        assert explorer.request("POST", f"/api/{name}", wrapped.encode())[0] == 404
        assert explorer.request("POST", f"/v1/{name}", wrapped.encode())[0] == 404
    assert lines(kept) == before


@pytest.mark.clock
def test_nobody_waits_for_a_database_that_does_not_answer() -> None:
    """It takes connections and says nothing: the page opens, says so, and answers all else meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2"
        opened = Open("--ledger", url)
        try:
            body = json.dumps({"client": "me", "spot": "ledger", "question": {"kind": "ledger"}}).encode()
            with socket.create_connection(("127.0.0.1", opened.port)) as waiting:
                head = (
                    f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{opened.port}\r\nx-tightrope-token: a-token_of-ours\r\n"
                )
                waiting.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                for stage in ("first", "fine"):
                    found = opened.ask({"kind": "epsilon", "text": JOB, "delta": "1e-5", "stage": stage})
                    assert "low" in found
            away = opened.ask({"kind": "ledger"}, spot="again")["error"]
            assert "the ledger" in away
            assert "\n" not in away
        finally:
            opened.close()


@pytest.mark.parametrize(
    ("expressions", "ledger", "shown"),
    [
        ([], True, "#view=ledger"),
        ([], False, ""),
        (["PureDP(epsilon=1)"], True, "#run=PureDP%28epsilon%3D1%29"),
        (["#run=x&view=risk"], True, "#run=x&view=risk"),
    ],
)
def test_the_page_opens_on_the_ledger_where_nothing_else_is_asked(
    expressions: list[str], ledger: bool, shown: str
) -> None:
    assert state(expressions, ledger) == shown


def test_the_environment_alone_shows_no_ledger(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ledger that is not there would be told; the token that is too short is told instead."""
    monkeypatch.setenv("TIGHTROPE_LEDGER", "nowhere.db")
    assert command_line(["explore", "--no-browser", "--token", "short"]) == 2
    assert "a token has at least 8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--ledger", "nowhere.db"], "there is no ledger at"),
        (["--ledger", "mysql://x/y"], "not mysql://"),
        (["--ledger", ""], "where is the ledger?"),
        (["--ledger", "nowhere.db", "--token-file", "nowhere.token"], "nowhere.token"),
        (["--token-file", "x"], "give --ledger too"),
    ],
    ids=str,
)
def test_a_ledger_that_cannot_be_shown_takes_one_line(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line(["explore", "--no-browser", *arguments]) in (2, 5)
    told = capsys.readouterr()
    assert says in told.err
    assert told.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_without_its_extra_a_ledger_takes_one_line() -> None:
    script = (
        "import sys; sys.modules['sqlalchemy'] = None; from tightrope.cli.app import run; "
        "sys.exit(run(['explore', '--no-browser', '--ledger', 'x.db']))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.returncode == 2
    assert install_command("ledger") in told.stderr
    assert told.stderr.count("\n") == 1
