"""What a server counts for those who watch it, and tokens that are listed and renewed."""

from __future__ import annotations

from pathlib import Path

import pytest

import tightrope.ledger as tl
from tests.ledger.server.serving import Client, housed
from tightrope.cli.app import run
from tightrope.ledger.chain import SYSTEM


def test_metrics_are_of_what_a_token_may_see(sqlite_url: str) -> None:
    with housed(sqlite_url) as house:
        client = house.client("analyst")
        assert client.reserve("one").status == 201
        assert client.reserve("large", job="Gaussian(sigma=0.1)").status == 409
        connection = house.client("viewer")
        # The text is no JSON, so it is asked for as it is.
        import http.client

        asked = http.client.HTTPConnection("127.0.0.1", house.port)
        asked.request("GET", "/v1/metrics", headers={"authorization": f"Bearer {connection.token}"})
        answer = asked.getresponse()
        text = answer.read().decode()
        asked.close()
        assert answer.status == 200
        assert answer.getheader("content-type", "").startswith("text/plain; version=0.0.4")
    lines = text.splitlines()
    used = next(line for line in lines if line.startswith('tightrope_ledger_used_ratio{budget="census",axis="rho"}'))
    assert 0.09 < float(used.split()[-1]) < 0.1
    assert 'tightrope_ledger_jobs{budget="census",state="refused"} 1' in lines
    assert 'tightrope_ledger_requests_total{request="reserve",status="201"} 1' in lines
    assert 'tightrope_ledger_requests_total{request="reserve",status="409"} 1' in lines
    assert not [line for line in lines if "poll" in line]
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or len(line.rsplit(" ", 1)) == 2


def test_a_token_is_renewed_under_its_name(sqlite_url: str) -> None:
    with housed(sqlite_url) as house:
        old = house.ledger.token("ana", role="analyst", root="census")
        assert Client(house.port, old).reserve("k").status == 201
        new = house.ledger.rotate("ana", seconds=60.0)
        assert Client(house.port, old).get("/v1/budgets").status == 401
        assert Client(house.port, new).reserve("k").status == 200  # the same name, and so the same keys
        house.ledger.revoke("ana")
        with pytest.raises(tl.Conflict, match="revoked"):
            house.ledger.rotate("ana")
        with pytest.raises(tl.NotFound):
            house.ledger.rotate("nobody")
        (found,) = house.ledger.tokens()
        assert (found["name"], found["role"], found["root"], found["state"]) == ("ana", "analyst", "census", "revoked")
        events = [line["body"] for line in house.ledger.audit(SYSTEM)]
        assert any('"event":"rotate"' in body for body in events)
        assert not any(secret in body for body in events for secret in (old, new))
        house.ledger.verify()


def test_tokens_on_the_command_line(sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tl.init(sqlite_url).close()
    assert run(["ledger", "token", "list", "--ledger", sqlite_url]) == 0
    assert capsys.readouterr().out == "none\n"
    with tl.open(sqlite_url) as ledger:
        ledger.create("census", kind="zcdp", rho=1.0, relation="add_remove", unit="one person")
        first = ledger.token("ana", role="analyst", root="census")
    assert run(["ledger", "token", "rotate", "ana", "--days", "2", "--ledger", sqlite_url]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("trl_")
    assert told.out.strip() != first
    assert run(["ledger", "token", "list", "--ledger", sqlite_url]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["ana", "analyst", "census"]


def test_who_is_no_administrator_sees_no_tokens(sqlite_url: str) -> None:
    from tightrope.ledger.service import LocalService
    from tightrope.ledger.transactions.entry import Actor

    with tl.init(sqlite_url) as ledger:
        desk = ledger._desk
        assert isinstance(desk, LocalService)
        for role in ("viewer", "analyst", "auditor", "job"):
            with pytest.raises(tl.Denied):
                desk.as_actor(Actor("eve", role, "b")).ask("tokens", {})
