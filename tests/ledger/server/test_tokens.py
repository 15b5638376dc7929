"""Who may do what, and that no token is ever shown."""

from __future__ import annotations

import logging

import pytest

import tightrope.ledger as tl
from tests.ledger.server.serving import JOB, SECRET, Client, House
from tightrope.core.values.errors import InvalidParameter
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.server.app import AskedOverHttp
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

CREATE = {"name": "new", "kind": "basic", "epsilon": 1.0, "delta": 1e-6, "unit": "one person", "relation": "replace"}


def test_401_without_a_token_that_is_known(house: House) -> None:
    nobody = Client(house.port, None)
    for given in (None, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "trl_abc", "Bearer trl_" + "x" * 43,
                  "Bearer a b", "Bearer é", "Bearer " + "x" * 300):  # fmt: skip
        for answer in (
            nobody.get("/v1/budgets", authorization=given),
            nobody.get("/v1/budgets/census", authorization=given),
            nobody.post("/v1/budgets", CREATE, authorization=given),
        ):
            assert (answer.status, answer.urn) == (401, "unauthenticated")
            assert answer.headers["www-authenticate"].startswith("Bearer")
    assert nobody.get("/v1/health").status == 200


def test_a_token_ends_when_it_is_revoked_or_over(house: House) -> None:
    name = "for-the-night"
    client = Client(house.port, house.ledger.token(name, role="viewer", root="census"))
    assert client.get("/v1/budgets").status == 200
    house.ledger.revoke(name)
    revoked = client.get("/v1/budgets")
    assert (revoked.status, revoked.urn) == (401, "unauthenticated")
    with pytest.raises(tl.Conflict):
        house.ledger.token(name, role="viewer", root="census")
    client = Client(house.port, house.ledger.token("short", role="viewer", root="census", seconds=3600))
    assert client.get("/v1/budgets").status == 200
    later = LocalService(Database(house.desk.database.url, clock=lambda now: now + 3_601_000), Actor("later"))
    try:
        with pytest.raises(tl.Denied):
            later.token(client.token or "")
        with Ledger(later) as ahead:
            ahead.create("tomorrow", **{k: v for k, v in CREATE.items() if k != "name"})  # type: ignore[arg-type]
    finally:
        later.close()
    over = client.get("/v1/budgets")  # the ledger's time never runs backwards
    assert (over.status, over.document["detail"]) == (401, revoked.document["detail"])


def test_roles(house: House) -> None:
    """What each may do: 200 or 201, 403, and 404 for what it cannot see."""
    own = house.client("analyst")
    made = own.reserve("own").document["id"]
    here = f"/v1/reservations/{made}"
    asked = {
        "status": ("GET", "/v1/budgets/census", None),
        "quote": ("POST", "/v1/quotes", {"budget": "census", "job": JOB}),
        "reserve": ("POST", "/v1/reservations", {"jobs": {"census": JOB}}),
        "audit": ("GET", "/v1/audit?root=census", None),
        "system": ("GET", "/v1/audit?root=_ledger", None),
        "anchor": ("GET", "/v1/anchor", None),
        "see": ("GET", here, None),
        "claim": ("POST", f"{here}/claim", {}),
        "create": ("POST", "/v1/budgets", CREATE),
        "part": ("POST", "/v1/budgets", {**CREATE, "parent": "census", "kind": "zcdp", "relation": "add_remove"}),
        "renew": ("POST", "/v1/budgets/census/renew", {"epsilon": 1.0}),
    }
    expected = {
        "viewer": (200, 200, 403, 403, 404, 403, 404, 404, 403, 403, 403),
        "analyst": (200, 200, 201, 403, 404, 403, 404, 404, 403, 403, 403),
        "auditor": (200, 200, 403, 200, 404, 200, 200, 403, 403, 403, 403),
        "admin": (200, 200, 201, 200, 404, 200, 200, 201, 403, 201, 400),
    }
    for role, codes in expected.items():
        client = house.client(role)
        found = tuple(client.ask(*each).status for each in asked.values())
        assert dict(zip(asked, found, strict=True)) == dict(zip(asked, codes, strict=True)), role
    everywhere = house.client("admin", None)
    assert everywhere.get("/v1/audit?root=_ledger").status == 200
    assert everywhere.post("/v1/budgets", {**CREATE, "name": "newer"}).status == 201


def test_other_roots_are_not_there(house: House) -> None:
    theirs = house.client("analyst", "poll")
    made = theirs.reserve("k", "poll").document["id"]
    for role in ("viewer", "analyst", "auditor", "admin"):
        mine = house.client(role)
        absent = mine.get("/v1/budgets/nowhere")
        for answer in (
            mine.get("/v1/budgets/poll"),
            mine.get(f"/v1/budgets/poll?job={JOB}"),
            mine.get("/v1/budgets/poll/history"),
            mine.get("/v1/budgets/poll/reservations"),
            mine.get("/v1/audit?root=poll"),
            mine.get(f"/v1/reservations/{made}"),
            mine.post("/v1/quotes", {"budget": "poll", "job": JOB}),
            mine.reserve("a", "poll"),
            mine.post("/v1/reservations", {"jobs": {"census": JOB, "poll": JOB}}),
            mine.post(f"/v1/reservations/{made}/claim", {}),
            mine.post(f"/v1/reservations/{made}/commit", {}),
            mine.post(f"/v1/reservations/{made}/cancel", {}),
            mine.post("/v1/budgets", {**CREATE, "parent": "poll"}),
            mine.post("/v1/budgets/poll/renew", {"epsilon": 1.0}),
        ):
            assert (answer.status, answer.urn) == (404, "not-found"), (role, answer.text)
            detail = answer.document["detail"]
            assert detail.replace("poll", "nowhere") == absent.document["detail"] or made in detail
        assert [each["name"] for each in mine.get("/v1/budgets").document["budgets"]] == ["census"]
    assert theirs.get(f"/v1/reservations/{made}").document["state"] == "reserved"


def test_colleagues_do_not_see_each_others_jobs(house: House) -> None:
    one, two = house.client("analyst"), house.client("analyst")
    made = one.reserve("k").document["id"]
    for move in ("claim", "commit", "cancel"):
        assert two.post(f"/v1/reservations/{made}/{move}", {}).status == 404
    assert two.get(f"/v1/reservations/{made}").status == 404
    assert two.get("/v1/budgets/census/reservations").document == {"reservations": [], "next": None}
    assert len(one.get("/v1/budgets/census/reservations").document["reservations"]) == 1
    assert two.get("/v1/budgets/census").document["axes"][0]["held"] > 0  # what is left is everybody's business


def test_a_jobs_token_sees_one_reservation(house: House) -> None:
    analyst = house.client("analyst")
    made, other = (analyst.reserve(key).document["id"] for key in ("mine", "other"))
    job = house.client("job", None, reservation=made)
    assert job.get("/v1/budgets").document == {"budgets": []}
    for path in ("budgets/census", "budgets/census/history", "budgets/census/reservations", f"reservations/{other}"):
        assert job.get(f"/v1/{path}").status == 404
    assert job.reserve("more").status == 404
    assert job.post("/v1/quotes", {"budget": "census", "job": JOB}).status == 404
    assert job.post(f"/v1/reservations/{other}/claim", {}).status == 404
    assert job.get("/v1/anchor").status == 403
    assert job.post("/v1/budgets", CREATE).status == 403
    here = f"/v1/reservations/{made}"
    assert job.get(here).document["state"] == "reserved"
    assert job.post(f"{here}/claim", {}).document["state"] == "running"
    assert job.post(f"{here}/commit", {}).document["state"] == "committed"


def test_no_token_is_ever_shown(house: House, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Not in answers, not in what is logged or printed, whatever goes wrong, and not in the ledger itself."""
    caplog.set_level(logging.DEBUG)
    token = house.token("admin", None)
    client = Client(house.port, token)
    answers = [
        client.get("/v1/budgets"),
        client.get(f"/v1/budgets/{token}x"),
        client.post("/v1/budgets", b"{"),
        client.post("/v1/quotes", {"budget": "census", "job": "Gaussian("}),
        client.get("/v1/audit?root=_ledger"),
        client.get("/v1/anchor"),
        Client(house.port, f"{token}-").get("/v1/budgets"),
    ]
    monkeypatch.setattr(house.desk.pricer, "price", lambda *_: 1 / 0)
    answers.append(client.post("/v1/quotes", {"budget": "census", "job": JOB}))
    assert answers[-1].status == 500
    texts = [str(answer.headers) + (answer.text if at != 1 else "") for at, answer in enumerate(answers)]
    with tl.open(house.url, token=token) as ledger:
        texts += [repr(ledger), str(ledger), repr(ledger._desk), repr(ledger.status("census"))]
        with pytest.raises(tl.NotFound) as info:
            ledger.status("nowhere")
        texts.append(str(info.value))
    texts += [repr(AskedOverHttp("status", {}, token, None, "", ())), caplog.text, *capfd.readouterr()]
    assert not [text for text in texts if token in text or SECRET.decode() in text]
    with house.desk.database.read() as connection:
        for table in ("audit", "token", "answer", "reservation", "budget"):
            assert token not in str(connection.exec_driver_sql(f"SELECT * FROM {table}").all())


def test_an_analyst_may_have_a_part_alone(sqlite_url: str) -> None:
    holder = tl.init(sqlite_url)
    desk = holder._desk
    assert isinstance(desk, LocalService)
    terms = {"epsilon": 4.0, "delta": 1e-6, "kind": "basic"}
    holder.create("whole", relation="add_remove", unit="one person", **terms)
    for name in ("ann", "bob"):
        holder.create(name, parent="whole", **terms)
    holder.create("ann/more", parent="ann", **terms)
    hers = Ledger(desk.as_actor(desk.token(holder.token("ann-token", role="analyst", root="ann"))))
    assert [each["name"] for each in hers.budgets()] == ["ann", "ann/more"]
    for inside in ("ann", "ann/more"):
        hers.reserve({inside: "PureDP(epsilon=0.5)"}, f"in {inside}").claim().commit()
        assert hers.status(inside)["name"] == inside
    for outside in ("whole", "bob"):
        for ask in (hers.status, hers.history, hers.reservations, lambda name: hers.quote(name, "PureDP(epsilon=0.5)")):
            with pytest.raises(tl.NotFound):
                ask(outside)
        with pytest.raises(tl.NotFound):
            hers.reserve({outside: "PureDP(epsilon=0.5)"}, f"in {outside}")
        with pytest.raises(tl.NotFound):
            hers.reserve({"ann": "PureDP(epsilon=0.5)", outside: "PureDP(epsilon=0.5)"}, f"also in {outside}")
    for role in ("auditor", "admin"):
        with pytest.raises(InvalidParameter, match="whole root"):
            holder.token(f"{role}-token", role=role, root="ann")
    holder.verify()
    holder.close()
