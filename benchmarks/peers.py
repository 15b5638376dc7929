"""Peers on the same cases: time, memory, width, and whether the answer contains the truth.

Each case runs in a process of its own with limits on time and memory. The peers live in an environment of their own
(PEERS, made with pip install dp-accounting prv-accountant); the truth is the reference vectors. A Markdown table on
standard output, JSON into build/peers.json.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
SECONDS_MOST, BYTES_MOST = 120, 8 << 30
VECTORS = ROOT / "tests" / "reference" / "vectors.json"
SAMPLED = re.compile(r"Gaussian\(sigma=([\d.]+)\)\.poisson\(rate=([\d.]+)\) \* (\d+)$")
DIGITS = Fraction(1, 10**14)


def limit() -> None:
    """Inside the new process."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MOST, BYTES_MOST))


def run(tool: str, arguments: list[str]) -> dict[str, object]:
    """One tool on one case, or the reason why it has no answer."""
    python = sys.executable if tool == "tightrope" else str(PEERS)
    command = [python, str(ROOT / "benchmarks" / "peers_case.py"), tool, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_MOST, preexec_fn=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {SECONDS_MOST} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"failed": lines[-1][:80] if lines else f"exit {done.returncode}"}
    found: dict[str, object] = json.loads(done.stdout)
    return found


def verdict(found: dict[str, object], truth: Fraction) -> str:
    """Whether the answer is on the right side of the truth."""
    if "failed" in found:
        return str(found["failed"])
    low, high = float(str(found["lower"])), float(str(found["upper"]))
    if high < float("inf") and Fraction(high) < truth * (1 - DIGITS):
        return "**below the truth**"
    if Fraction(low) > truth * (1 + DIGITS):
        return "**above the truth**"
    return "contains it" if low > 0.0 else "above it"


def main() -> None:
    """The table."""
    if not PEERS.exists():
        sys.exit(
            f"{PEERS} is missing: python3 -m venv .venv-peers, then pip install dp-accounting prv-accountant there"
        )
    results = []
    print("| case | tool | epsilon | width | first answer, s | MB | the truth |")
    print("|---|---|---|---|---|---|---|")
    for vector in json.loads(VECTORS.read_text())["vectors"]:
        match = SAMPLED.match(vector["expression"])
        if match is None:
            continue
        truth = Fraction(vector["epsilon"])
        for tool in ("tightrope", "dp-accounting", "prv-accountant"):
            found = run(tool, [*match.groups(), vector["delta"]])
            results.append({"case": vector["expression"], "delta": vector["delta"], "tool": tool, **found})
            said = verdict(found, truth)
            name = f"({match[1]}, {match[2]}) x {match[3]}, {vector['delta']}"
            if "failed" in found:
                print(f"| {name} | {tool} | - | - | - | - | {said} |", flush=True)
                continue
            low, high = float(str(found["lower"])), float(str(found["upper"]))
            width = f"{high - low:.1e}" if low > 0.0 else "one-sided"
            seconds, megabytes = float(str(found["seconds_first"])), float(str(found["peak_megabytes"]))
            print(f"| {name} | {tool} | {high:.10g} | {width} | {seconds:.3f} | {megabytes:.0f} | {said} |", flush=True)
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build" / "peers.json").write_text(json.dumps({"results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
