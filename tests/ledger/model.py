"""What a ledger does, said once more without a database: the state machine holds both databases against it.

Counters are sums over jobs, taken anew each time; only an axis that died keeps the two numbers that it had then.
Nothing here is taken from the package, prices and totals apart (stub.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.ledger import stub

Place = tuple[str, str]
Cost = dict[str, int | None]
HELD = ("reserved", "running")


class No(Exception):
    """The name of the error; kept: whether it is an answer that stays."""

    def __init__(self, name: str, number: int | None = None) -> None:
        super().__init__(name)
        self.name, self.number = name, number


@dataclass
class Axis:
    need: str
    total: int
    ceiling: int
    ended: tuple[int, int] | None  # held and spent when it died


@dataclass
class Budget:
    name: str
    root: str
    parent: str | None
    kind: str
    parallel: bool
    ceiling: int
    axes: dict[str, Axis]


@dataclass
class Job:
    owner: str
    state: str
    claimant: str | None
    expires: int
    wanted: dict[str, tuple[int, int]]
    roots: list[str]
    charges: dict[Place, int]


@dataclass
class World:
    budgets: dict[str, Budget] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)
    jobs: list[Job] = field(default_factory=list)
    answers: dict[tuple[str, str], tuple[Any, Any]] = field(default_factory=dict)
    latest: int = 0


class Model:
    """ask() gives the number of a job or None, or raises No; the clock is whatever `now` says."""

    def __init__(self) -> None:
        self.world = World()

    def ask(self, name: str, body: Mapping[str, Any], key: str, actor: str, nonce: str, now: int) -> int | None:
        before = self._answered(name, body, key, actor, nonce)
        if before is not None:
            return before[0]
        stands = deepcopy(self.world)
        moment = max(now, self.world.latest)
        try:
            self._allowed(name, body, actor)
            written = self._expire(moment)
            act: Callable[..., tuple[int | None, bool]] = getattr(self, f"_{name}")
            try:
                found, moved = act(body, actor, nonce, moment)
            except No as refused:
                if refused.number is None:
                    raise
                self.world.answers[actor, key] = ((name, body), refused)
                self.world.latest = moment
                raise
        except No as refused:
            if refused.number is None:
                self.world = stands
            raise
        if moved:
            self.world.answers[actor, key] = ((name, body), found)
        if moved or written:
            self.world.latest = moment
        return found

    def _answered(
        self, name: str, body: Mapping[str, Any], key: str, actor: str, nonce: str
    ) -> tuple[int | None] | None:
        if (actor, key) not in self.world.answers:
            return None
        asked, found = self.world.answers[actor, key]
        if asked != (name, body):
            raise No("KeyReused")
        if isinstance(found, No):
            raise found
        if name == "claim" or (name == "reserve" and body["start"]):
            if self.world.jobs[found].state == "cancelled":
                raise No("Cancelled")
            if self.world.jobs[found].state != "running" or self.world.jobs[found].claimant != nonce:
                raise No("Claimed")
        return (found,)

    # What every request meets before it is looked at.

    def _allowed(self, name: str, body: Mapping[str, Any], actor: str) -> None:
        if name == "reserve":
            for each in body["jobs"]:
                if self._budget(each).parallel:
                    raise No("InvalidParameter")
        elif name in ("claim", "commit", "cancel"):
            job = self.world.jobs[body["job"]]
            if actor != "ann" and job.owner != actor:
                raise No("NotFound")
            if name == "commit" and body["part"] is not None and any(body["part"] > n for _, n in job.wanted.values()):
                raise No("InvalidParameter")
        elif (
            name == "create" and body["parent"] is not None and self._budget(body["parent"]).kind != body["kind"]
        ) or (name == "renew" and body["epsilon"] > self._budget(body["name"]).ceiling):
            raise No("InvalidParameter")

    def _budget(self, name: str) -> Budget:
        if name not in self.world.budgets:
            raise No("NotFound")
        return self.world.budgets[name]

    def _moving(self, roots: list[str]) -> None:
        if self.world.frozen & set(roots):
            raise No("Frozen")

    def _expire(self, now: int) -> bool:
        over = [job for job in self.world.jobs if job.state in HELD and job.expires < now]
        ended = [job for job in over if not self.world.frozen & set(job.roots)]
        for job in ended:
            job.state = "committed" if job.state == "running" else "cancelled"
        return bool(ended)

    # Counters.

    def counter(self, place: Place) -> tuple[int, int]:
        axis = self.world.budgets[place[0]].axes[place[1]]
        if axis.ended is not None:
            return axis.ended
        mine = [(job.state, job.charges[place]) for job in self.world.jobs if place in job.charges]
        held = sum(units for state, units in mine if state in HELD)
        return held, sum(units for state, units in mine if state == "committed")

    def _used(self, place: Place) -> int:
        return sum(self.counter(place))

    def _end(self, places: set[Place]) -> None:
        for place in places:
            axis = self.world.budgets[place[0]].axes[place[1]]
            if axis.ended is None:
                axis.ended = self.counter(place)

    def _above(self, name: str) -> list[Budget]:
        """A budget and all that stand above it."""
        found = [self._budget(name)]
        while (parent := found[-1].parent) is not None:
            found.append(self._budget(parent))
        return found

    def _paying(self, name: str) -> tuple[list[Budget], list[Budget]]:
        """Who is charged, and who stands from the first block on."""
        line = self._above(name)
        cut = next((i for i, each in enumerate(line) if each.parallel and i > 0), len(line))
        return line[:cut], line[cut:]

    def _fitted(self, jobs: Mapping[str, Cost]) -> tuple[dict[Place, int], set[Place]] | None:
        """Charges and the axes that they end, or None: one job too many."""
        due: dict[Place, int | None] = {}
        for name, cost in jobs.items():
            for each in self._paying(name)[0]:
                for axis, units in cost.items():
                    known = due.get((each.name, axis), 0)
                    due[each.name, axis] = None if units is None or known is None else known + units
        charges, ends = {}, set()
        for place, units in due.items():
            axis_ = self.world.budgets[place[0]].axes[place[1]]
            if axis_.ended is not None:
                continue
            most = axis_.total if axis_.need == "all" else axis_.ceiling
            if units is not None and self._used(place) + units <= most:
                charges[place] = units
            elif axis_.need == "all":
                return None
            else:
                ends.add(place)
        for name in jobs:
            paying, behind = self._paying(name)
            ends |= {(each.name, axis) for each in behind for top, axis in set(ends) if top == paying[-1].name}
        charges = {place: units for place, units in charges.items() if place not in ends}
        everybody = {each.name for name in jobs for each in self._above(name)}
        return (charges, ends) if all(self._survives(name, charges, ends) for name in everybody) else None

    def _survives(self, name: str, charges: Mapping[Place, int], ends: set[Place]) -> bool:
        choices = [(axis, each) for axis, each in self.world.budgets[name].axes.items() if each.need == "any"]
        return not choices or any(
            each.ended is None
            and (name, axis) not in ends
            and self._used((name, axis)) + charges.get((name, axis), 0) <= each.total
            for axis, each in choices
        )

    def _cost(self, budget: str, number: int, times: int) -> Cost:
        kind = self.world.budgets[budget].kind
        steps = stub.STEPS[kind][number]
        return {axis: None if each is None else each * times for axis, each in zip(stub.AXES[kind], steps, strict=True)}

    # Requests: each gives the job it is about, and whether a line was written.

    def _create(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[None, bool]:
        name, above = body["name"], body["parent"]
        if name in self.world.budgets:
            raise No("Conflict")
        if above is not None:
            self._moving([self._budget(above).root])
            if self._budget(above).parallel and body["parallel"]:
                raise No("InvalidParameter")
        now_, most = stub.totals(body["kind"], body["epsilon"]), stub.totals(body["kind"], body["ceiling"])
        axes = {
            axis: Axis("any" if "order" in axis else "all", max(a, 0), max(b, 0), (0, 0) if b < 0 else None)
            for axis, a, b in zip(stub.AXES[body["kind"]], now_, most, strict=True)
        }
        root = name if above is None else self._budget(above).root
        made = Budget(name, root, above, body["kind"], body["parallel"], body["ceiling"], axes)
        if above is not None and self._budget(above).parallel:
            self._partition(self._budget(above), axes)
        if body["parallel"] and above is not None:
            self._block(made)
        self.world.budgets[name] = made
        return None, True

    def _partition(self, block: Budget, axes: dict[str, Axis]) -> None:
        if any(each.ended is None and each.ceiling > block.axes[axis].ceiling for axis, each in axes.items()):
            raise No("InvalidParameter")
        behind = self._above(block.name)
        ends = {(each.name, axis) for each in behind for axis in axes if axes[axis].ended is not None}
        if not all(self._survives(each.name, {}, ends) for each in behind):
            raise No("BudgetExhausted")
        self._end(ends)

    def _block(self, made: Budget) -> None:
        assert made.parent is not None
        cost = {axis: None if each.ended is not None else each.ceiling for axis, each in made.axes.items()}
        found = self._fitted({made.parent: cost})
        if found is None:
            raise No("BudgetExhausted")
        self._charge(Job("-", "committed", None, 1 << 60, {}, [made.root], {}), found)

    def _charge(self, job: Job, found: tuple[dict[Place, int], set[Place]]) -> None:
        self._end(found[1])
        job.charges = found[0]
        self.world.jobs.append(job)

    def _renew(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[None, bool]:
        budget = self._budget(body["name"])
        self._moving([budget.root])
        for axis, wanted in zip(stub.AXES[budget.kind], stub.totals(budget.kind, body["epsilon"]), strict=True):
            if max(wanted, 0) < budget.axes[axis].total:
                raise No("InvalidParameter")
            budget.axes[axis].total = max(wanted, 0)
        return None, True

    def _freeze(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[None, bool]:
        if self._budget(body["root"]).parent is not None:
            raise No("InvalidParameter")
        if body["root"] in self.world.frozen:
            return None, False
        self.world.frozen.add(body["root"])
        return None, True

    def _recover(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[None, bool]:
        if body["root"] not in self.world.frozen:
            raise No("WrongState")
        self.world.frozen.discard(body["root"])
        for job in self.world.jobs:
            if job.state in HELD and body["root"] in job.roots:
                job.state = "committed"
        charges: dict[Place, int] = {}
        for each in self.world.budgets.values():
            for name, axis in each.axes.items():
                if body["burn"] and each.root == body["root"] and axis.ended is None:
                    axis.total = axis.ceiling  # a renewal that is forgotten may have been spent too
                    charges[each.name, name] = axis.ceiling - self._used((each.name, name))
        charges = {place: units for place, units in charges.items() if units > 0}
        self._charge(Job("-", "committed", None, 1 << 60, {}, [body["root"]], {}), (charges, set()))
        return None, True

    def _reserve(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[int, bool]:
        roots = sorted({self._budget(name).root for name in body["jobs"]})
        self._moving(roots)
        found = self._fitted({name: self._cost(name, *each) for name, each in body["jobs"].items()})
        start = body["start"]
        state = "refused" if found is None else "running" if start else "reserved"
        job = Job(actor, state, nonce if start and found else None, now + 1000 * body["ttl"], body["jobs"], roots, {})
        self._charge(job, found or ({}, set()))
        number = len(self.world.jobs) - 1
        if found is None:
            raise No("BudgetExhausted", number)
        return number, True

    def _claim(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[int, bool]:
        job = self.world.jobs[body["job"]]
        self._moving(job.roots)
        if job.state == "cancelled":
            raise No("Cancelled")
        if job.state in ("running", "committed"):
            raise No("Claimed")
        if job.state != "reserved":
            raise No("WrongState")
        job.state, job.claimant = "running", nonce
        if body["ttl"] is not None:
            job.expires = now + 1000 * body["ttl"]
        return body["job"], True

    def _commit(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[int, bool]:
        job = self.world.jobs[body["job"]]
        self._moving(job.roots)
        if job.state != "running":
            raise No("Cancelled" if job.state == "cancelled" else "WrongState")
        if body["part"] is not None:
            if not all(stub.ADDITIVE[self.world.budgets[name].kind] for name in job.wanted):
                raise No("NotAdditive")
            self._own(job, body, actor, nonce)
            self._shrink(job, body["part"])
        job.state = "committed"
        return body["job"], True

    def _shrink(self, job: Job, times: int) -> None:
        smaller: dict[Place, int] = {}
        for name, (number, _) in job.wanted.items():
            for each in self._paying(name)[0]:
                for axis, units in self._cost(name, number, times).items():
                    smaller[each.name, axis] = smaller.get((each.name, axis), 0) + (units or 0)
        job.charges = {place: min(units, smaller[place]) for place, units in job.charges.items()}

    @staticmethod
    def _own(job: Job, body: Mapping[str, Any], actor: str, nonce: str) -> None:
        if job.claimant != nonce and not (actor == "ann" and body["attest"]):
            raise No("Claimed")

    def _cancel(self, body: Mapping[str, Any], actor: str, nonce: str, now: int) -> tuple[int, bool]:
        job = self.world.jobs[body["job"]]
        self._moving(job.roots)
        if job.state == "running" and body["attest"]:
            self._own(job, body, actor, nonce)
        elif job.state != "reserved":
            raise No("WrongState")
        job.state = "cancelled"
        return body["job"], True
