"""How the explorer holds under load: many pages that drag at once.

Usage: python -m benchmarks.explore_load [CLIENTS] [--seconds S] [--json FILE]
Every client does what a page does: it drags sigma, sends at most four first pictures (8 points) a second and one at a
time, rests, and asks for the fine curve. Every answer is held against the text that it was asked for, and a sample
against the package itself. Printed: the seconds of one page alone, how many were asked and answered, the time to the
first picture of the newest question of a drag, the time to its fine curve, and the memory of the server and its
processes over time. Exit code 1 where an answer was lost or mixed up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import tightrope as tr

DRAG, REST = 2.0, 1.5  # seconds
BETWEEN, TICK = 0.25, 0.05
WARMED = 12  # questions
FOLLOWED = 40  # answers that are held against the package


@dataclass
class Tally:
    """What all clients saw."""

    asked: int = 0
    answered: int = 0
    superseded: int = 0
    wrong: list[str] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    fine: list[float] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    kept: list[tuple[str, list[dict[str, Any]]]] = field(default_factory=list)


class Client:
    """One page that drags."""

    def __init__(self, number: int, port: int, token: str, tally: Tally) -> None:
        self.name, self.port, self.token, self.tally = f"page-{number}", port, token, tally
        self.random = random.Random(number)
        self.serial = number * 10_000

    async def run(self, until: float) -> None:
        """Drags and rests until then."""
        await asyncio.sleep(self.random.random() * (DRAG + REST))
        while monotonic() < until:
            await self.drag()
            await asyncio.sleep(REST)

    async def drag(self) -> None:
        """The value changes all the time; what is sent is the newest one, when the one before was answered."""
        end, text, moved = monotonic() + DRAG, "", 0.0
        while True:
            began = monotonic()
            if began < end:
                text, moved = self.moved(), began
            await self.ask(text, "first")
            if began >= end:
                self.tally.first.append(monotonic() - moved)
                break
            await asyncio.sleep(max(0.0, BETWEEN - (monotonic() - began)))
            if monotonic() >= end:  # the hand rests: this is the newest question of the drag
                text, moved = self.moved(), monotonic()
        began = monotonic()
        await self.ask(text, "fine")
        self.tally.fine.append(monotonic() - began)

    def moved(self) -> str:
        self.serial += 1
        return f"Gaussian(sigma={1 + self.serial / 1e6!r}).poisson(rate=0.01) * 1000"

    async def ask(self, text: str, stage: str) -> None:
        self.tally.asked += 1
        question = {"kind": "curve", "text": text, "from": 0, "to": 3, "stage": stage}
        found = await posted(self.port, self.token, {"client": self.name, "spot": "curve", "question": question})
        if "superseded" in found:
            self.tally.superseded += 1
            return
        self.tally.answered += 1
        if "error" in found or repr(text)[1:-1] not in found["command"]:
            self.tally.wrong.append(f"{text}: {str(found)[:200]}")
        elif len(found["points"]) != (8 if stage == "first" else 61):
            self.tally.wrong.append(f"{text}: {len(found['points'])} points")
        elif self.random.random() < FOLLOWED / 5000:
            self.tally.kept.append((text, found["points"]))


async def posted(port: int, token: str, body: dict[str, Any]) -> dict[str, Any]:
    """One question over a connection of its own."""
    content = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nx-tightrope-token: {token}\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode() + content)
    reply = await reader.read(-1)
    writer.close()
    status, _, answer = reply.partition(b"\r\n\r\n")
    if not status.startswith(b"HTTP/1.1 200"):
        return {"error": status[:80].decode("latin-1")}
    found: dict[str, Any] = json.loads(answer)
    return found


def memory(process: int) -> float:
    """Megabytes that a process and its children hold."""
    told = subprocess.run(["ps", "-o", "rss=", "--pid", str(process), "--ppid", str(process)], capture_output=True)
    return sum(map(int, told.stdout.split())) / 1024


async def watch(process: int, tally: Tally, until: float) -> None:
    began = monotonic()
    while monotonic() < until:
        tally.memory.append((monotonic() - began, memory(process)))
        await asyncio.sleep(2.0)


def share(values: list[float], part: float) -> float:
    """The value that so much of them is at or below."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)] if values else float("nan")


def checked(tally: Tally) -> None:
    """A sample of the answers against the package: the same intervals, or such that have a point in common."""
    for text, points in tally.kept:
        exact = tr.parse(text).curve(epsilons=[each["x"] for each in points])
        for (_, bound), each in zip(exact, points, strict=True):
            if each["low"] > bound.upper or each["high"] < bound.lower:
                tally.wrong.append(f"{text} at {each['xText']}: {each} beside {bound}")


async def alone(port: int, token: str) -> dict[str, float]:
    """Seconds of one page on a quiet server: a first picture and 61 points of a DP-SGD curve, each of another sigma."""
    page, found = Client(0, port, token, Tally()), {}
    for stage in ("first", "fine"):
        for _ in range(2 * WARMED):  # every process has answered before
            await page.ask(page.moved(), stage)
        taken = []
        for _ in range(WARMED):
            began = monotonic()
            await page.ask(page.moved(), stage)
            taken.append(monotonic() - began)
        found[f"alone_{stage}_median"] = round(share(taken, 0.5), 4)
    return found


async def load(clients: int, seconds: float, port: int, token: str, process: int) -> Tally:
    """All of them at once."""
    tally, until = Tally(), monotonic() + seconds
    pages = (Client(number, port, token, tally).run(until) for number in range(clients))
    await asyncio.gather(watch(process, tally, until), *pages)
    return tally


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("clients", nargs="?", type=int, default=50)
    reader.add_argument("--seconds", type=float, default=60.0)
    reader.add_argument("--json", type=Path)
    given = reader.parse_args()
    command = [sys.executable, "-m", "tightrope", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)", server.stdout.readline())
        assert found is not None
        port, token = int(found[1]), found[2]
        quiet = asyncio.run(alone(port, token))
        tally = asyncio.run(load(given.clients, given.seconds, port, token, server.pid))
        server.terminate()
    checked(tally)
    settled = [held for when, held in tally.memory if when > given.seconds / 3]
    told = {
        "clients": given.clients,
        "seconds": given.seconds,
        **quiet,
        "asked": tally.asked,
        "answered": tally.answered,
        "superseded": tally.superseded,
        "wrong": tally.wrong[:10],
        "checked": len(tally.kept),
        "first_median": round(share(tally.first, 0.5), 3),
        "first_p95": round(share(tally.first, 0.95), 3),
        "fine_median": round(share(tally.fine, 0.5), 3),
        "fine_p95": round(share(tally.fine, 0.95), 3),
        "memory_after_a_third": round(settled[0]) if settled else None,
        "memory_at_the_end": round(settled[-1]) if settled else None,
    }
    print(json.dumps(told, indent=2))
    if given.json is not None:
        given.json.write_text(json.dumps(told) + "\n", "utf-8")
    return 1 if tally.wrong or tally.asked != tally.answered + tally.superseded else 0


if __name__ == "__main__":
    sys.exit(main())
