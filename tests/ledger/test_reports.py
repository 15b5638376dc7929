"""The document that is filed for a budget: rebuilt from the chain, the same twice, and no more than is true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tightrope.ledger
from tightrope import documents
from tightrope.ledger import maintenance
from tightrope.ledger.database import Database
from tightrope.ledger.errors import BudgetExhausted, Denied, NotFound
from tightrope.ledger.filters import kind_of
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.report_words import THEOREMS
from tightrope.ledger.reports import gather
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor
from tightrope.report import value
from tightrope.report.from_file import document_of

WHO: dict[str, Any] = {"relation": "add_remove", "unit": "one person"}
DATED = {"date": "2026-11-16", "author": "A. Ngo", "organisation": "Office <1>"}
PROOFS = Path(__file__).resolve().parents[2] / "docs" / "proofs" / "ledger.md"


class Hours:
    """Each look at the clock is an hour later, so that every line has a time of its own."""

    now = 1_770_000_000_000

    def __call__(self, _: int) -> int:
        self.now += 3_600_000
        return self.now


@pytest.fixture
def ledger(sqlite_url: str) -> Iterator[Ledger]:
    desk = LocalService(Database(sqlite_url, clock=Hours()), Actor("ana"))
    maintenance.begin(desk)
    with Ledger(desk) as found:
        found.create("census", epsilon=1.0, ceiling=2.0, delta=1e-6, kind="basic", **WHO)
        found.create("census/bo", epsilon=0.5, delta=1e-6, kind="basic", parent="census", **WHO)
        yield found


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take long, and are looked at elsewhere."""
    monkeypatch.setattr(value, "find_spec", lambda name: None)


def filled(ledger: Ledger) -> None:
    """A job of each fate."""
    job, day = "PureDP(epsilon=0.1)", 86_400 * 10
    ledger.reserve({"census": job}, "committed", ttl=day, start=True, note="table 7").commit()
    ledger.reserve({"census/bo": job}, "of a part", ttl=day, start=True).commit()
    ledger.reserve({"census": job}, "cancelled", ttl=day).cancel()
    ledger.reserve({"census": job}, "running", ttl=day, start=True)
    ledger.reserve({"census": job}, "expired", ttl=1, start=True)
    with pytest.raises(BudgetExhausted):
        ledger.reserve({"census/bo": "PureDP(epsilon=0.9)"}, "refused")
    ledger.renew("census", epsilon=1.5)


def found_document(ledger: Ledger, name: str) -> dict[str, Any]:
    return dict(json.loads(gather(ledger, name, DATED).document()))


@pytest.mark.usefixtures("undrawn")
def test_the_document_says_what_the_ledger_says(ledger: Ledger) -> None:
    filled(ledger)
    found = found_document(ledger, "census")
    status = ledger.status("census")
    for name in ("axes", "promise", "odometer", "state", "shared", "kind", "relation", "unit", "children", "made"):
        assert found["budget"][name] == documents.plain(status[name]), name
    assert found["counts"] == {"committed": 3, "cancelled": 1, "running": 1, "refused": 1}
    assert [each["name"] for each in found["parts"]] == ["census/bo"]
    last = list(ledger.audit("census"))[-1]
    assert found["chain"] == {
        "root": "census",
        "lines": last["seq"],
        **{key: last[key] for key in ("seq", "hash", "at")},
    }
    assert (found["verified"], found["findings"], len(found["renewed"])) == (True, [], 1)
    assert documents.digest_agrees(found)


@pytest.mark.usefixtures("undrawn")
def test_jobs_have_times_units_notes_and_their_price(ledger: Ledger) -> None:
    filled(ledger)
    found = found_document(ledger, "census")
    first, part, given_back, running, expired = found["jobs"]
    assert (first["principal"], first["note"], first["state"]) == ("ana", "table 7", "committed")
    assert first["made"] == first["claimed"] < first["ended"]
    assert first["units"]["epsilon"] == -(-(2**50) // 10)
    assert part["jobs"] == {"census/bo": "PureDP(epsilon=0.1)"}
    assert (given_back["state"], "claimed" in given_back) == ("cancelled", False)
    assert "ended" not in running
    assert (expired["state"], expired["by_expiry"]) == ("committed", True)
    prices = {each["price"]: each for each in found["prices"]}
    assert prices[first["price"]]["evidence"]["census"]["uses"][0]["epsilon"] == "0.1"
    assert first["price"] == running["price"] != part["price"]
    beneath = found_document(ledger, "census/bo")
    assert [each["id"] for each in beneath["jobs"]] == [part["id"]]
    assert beneath["counts"] == {"committed": 1, "refused": 1}


def test_the_same_lines_make_the_same_files(ledger: Ledger, tmp_path: Path) -> None:
    filled(ledger)
    pages = [gather(ledger, "census", DATED).html() for _ in range(2)]
    assert pages[0] == pages[1]
    assert "data:image/svg+xml;base64," in pages[0]
    assert '<script type="application/json"' in pages[0]
    assert pages[0].count("<script") == 1
    assert "http://" not in pages[0].replace("http://www.w3.org", "")
    assert "Office &lt;1&gt;" in pages[0]
    found = gather(ledger, "census", DATED)
    assert json.loads(document_of(pages[0])) == json.loads(found.document())
    found.save(tmp_path / "census.json")
    assert (tmp_path / "census.json").read_text("utf-8") == found.document() + "\n"
    later = gather(ledger, "census", {**DATED, "date": "2026-11-17"})
    assert later.html() != pages[0]


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_all_that_it_rests_on(ledger: Ledger) -> None:
    filled(ledger)
    page = gather(ledger, "census", DATED).html()
    for words in (
        "all answers together are (2, 1e-06)-DP for one person, when one record is added or removed",
        "Theorem D, Corollary basic; totals below the ceiling: Theorem Renewal",
        "What is held or running counts as spent",
        "Caps of parts are fairness",
        "Every job ran what its expression says",
        "One process ran each job, once",
        "1 running, 3 committed, 1 cancelled, 1 refused",
        "given back",
        "time was over",
        "Note: table 7",
        f"tightrope ledger verify --receipt census:{list(ledger.audit('census'))[-1]['seq']}:",
        "There is no picture",
    ):
        assert words in page, words


def test_every_kind_names_its_theorem_as_the_proofs_do() -> None:
    proofs = PROOFS.read_text("utf-8")
    assert THEOREMS.keys() == {"rdp", "plan", "gdp", "zcdp", "basic", "odometer"}
    for kind, words in THEOREMS.items():
        assert kind_of(kind).name == kind
        for name in words.replace(", with ", ", ").replace(" and ", ", ").split(", "):
            assert f"**{name}" in proofs, name
    for name in ("Theorem Renewal", "Theorem Parallel"):
        assert f"**{name}.**" in proofs


@pytest.mark.parametrize(
    ("options", "job"),
    [
        ({"kind": "rdp", "epsilon": 1.0, "delta": 1e-6}, "Gaussian(sigma=40)"),
        ({"kind": "plan", "plan": {"Gaussian(sigma=4)": 3}, "delta": 1e-6}, "Gaussian(sigma=4)"),
        ({"kind": "gdp", "epsilon": 1.0, "delta": 1e-6}, "Gaussian(sigma=40)"),
        ({"kind": "zcdp", "rho": 0.5}, "Gaussian(sigma=4)"),
        ({"kind": "odometer", "delta": 1e-6}, "Gaussian(sigma=40)"),
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_every_kind_has_a_page(ledger: Ledger, options: dict[str, Any], job: str) -> None:
    ledger.create("other", **WHO, **options)
    empty = gather(ledger, "other", DATED).html()
    assert "Jobs: none. As of line 1 of the chain." in empty
    with ledger.spend("other", job, "one", ttl=86_400 * 10):
        pass
    found = gather(ledger, "other", DATED)
    assert found.status["axes"] == documents.plain(ledger.status("other")["axes"])
    assert THEOREMS[options["kind"]] in found.html()
    assert "1 committed" in "\n".join(found.summary())


@pytest.mark.usefixtures("undrawn")
def test_a_recovery_ends_what_was_held(ledger: Ledger) -> None:
    ledger.reserve({"census": "PureDP(epsilon=0.1)"}, "one", ttl=86_400 * 10, start=True)
    ledger.freeze("census", "a restore")
    ledger.recover("census", "nobody knows what was lost")
    found = found_document(ledger, "census")
    assert {each["state"] for each in found["jobs"]} == {"committed"}
    assert all("ended" in each for each in found["jobs"])
    assert found["budget"]["axes"][0]["spent"] == 2 * 2**50
    assert found["verified"]


@pytest.mark.usefixtures("undrawn")
def test_tables_that_were_edited_are_not_believed(ledger: Ledger) -> None:
    """Counters are those of the lines, and the report says that the tables differ."""
    filled(ledger)
    before = found_document(ledger, "census")
    desk = ledger._local()
    with desk.database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER axis_kept")
        connection.exec_driver_sql("UPDATE axis SET spent = 0 WHERE budget = 'census'")
    found = gather(ledger, "census", DATED)
    assert json.loads(found.document())["budget"]["axes"] == before["budget"]["axes"]
    assert any("spent is 0, and the audit gives" in each for each in found.findings)
    assert "This ledger does not hold together" in found.html()
    assert "NOT VERIFIED" in "\n".join(found.summary())


def test_who_may_not_read_the_audit_gets_no_report(ledger: Ledger) -> None:
    with pytest.raises(NotFound):
        gather(ledger, "nothing", DATED)
    viewer = Ledger(ledger._local().as_actor(Actor("vi", "viewer", "census")))
    with pytest.raises(Denied):
        gather(viewer, "census", DATED)


@pytest.mark.usefixtures("undrawn")
def test_pdf_has_the_document_attached(ledger: Ledger, tmp_path: Path) -> None:
    found = gather(ledger, "census", DATED)
    found.save(tmp_path / "census.pdf")
    written = (tmp_path / "census.pdf").read_bytes()
    assert written == found.pdf()
    assert json.loads(documents.decoded(written)) == json.loads(found.document())


def test_it_is_reached_by_its_name_alone(sqlite_url: str) -> None:
    """The title is that of budgets, unless another is given."""
    with tightrope.ledger.init(sqlite_url) as ledger:
        ledger.create("a", epsilon=1.0, delta=1e-6, kind="basic", **WHO)
        assert gather(ledger, "a", {}).filing.title == "Privacy budget report"
        assert gather(ledger, "a", {"title": "Ours", "date": None}).filing.title == "Ours"
