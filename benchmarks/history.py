"""Instructions that standard questions take, counted by Valgrind: a loss of 5 % is seen on any machine, however busy.

    python -m benchmarks.history compare [LINE...]   counts; exits with 1 where a line is LOSS above the record
    python -m benchmarks.history record [LINE...]    counts, and adds the counts to benchmarks/history.jsonl

One process under callgrind asks all lines; it calls getppid before and after the answers that count, and callgrind puts
what was executed in between into a file of its own. Every line was asked WARM times before, so that libraries and
caches are there. A count repeats to about one in a thousand on one machine with one numpy; between machines numpy may
choose other instructions, so a record names both, and a comparison is with the last record of the same.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks" / "history.jsonl"
LOSS = 0.05
WARM, COUNTED = 2, 3
SGD = "Gaussian(sigma={0}).poisson(rate={1}) * {2}"


def lines() -> dict[str, Callable[[], object]]:
    """What is asked, by name."""
    import tightrope as tr
    from tightrope.extend.expressions import parse_template

    def epsilon(text: str, delta: float) -> Callable[[], object]:
        return lambda: tr.parse(text).epsilon(delta)

    calibrated = parse_template("Gaussian(sigma=?).poisson(rate=0.01) * 1000")
    return {
        "one use": epsilon("Gaussian(sigma=1)", 1e-6),
        "training": epsilon(SGD.format(1, 0.01, 1000), 1e-6),
        "training, long": epsilon(SGD.format(4, 0.01, 10000), 1e-5),
        "training, tiny delta": epsilon(SGD.format(3, 0.02, 5000), 1e-30),
        "training, few hits": epsilon(SGD.format(1.5, 2e-5, 34), 4.3e-37),
        "training, a hit decides": epsilon(SGD.format(1.01, 1.4e-4, 2), 6.8e-5),
        "curve of 50 points": lambda: tr.parse(SGD.format(1, 0.01, 1000)).curve(),
        "calibration": lambda: tr.calibrate(calibrated, epsilon=2.0, delta=1e-6),
        "mixed kinds": epsilon("Gaussian(sigma=5) * 3 + Laplace(scale=20) * 10 + PureDP(epsilon=0.1)", 1e-6),
        "integer noise": epsilon("DiscreteGaussian(sigma=10) * 100", 1e-6),
    }


def serve(names: list[str]) -> None:
    """Asks in this process, which callgrind watches; each pair of calls of getppid stands around one line."""
    asked = lines()
    for name in names:
        for _ in range(WARM):
            asked[name]()
        os.getppid()
        for _ in range(COUNTED):
            asked[name]()
        os.getppid()


def counted(names: list[str]) -> dict[str, int]:
    """Instructions of one answer, per line."""
    if shutil.which("valgrind") is None:
        raise SystemExit("bench-history needs Valgrind: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        subprocess.run(
            [
                *("valgrind", "--tool=callgrind", "--dump-before=getppid", f"--callgrind-out-file={out}"),
                *(sys.executable, "-m", "benchmarks.history", "serve", *names),
            ],
            check=True,
            cwd=ROOT,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "TIGHTROPE_CLOCK": "off"},
        )
        # Dump 2k + 1 ends where line k begins, dump 2k + 2 where it ends.
        return {name: _total(Path(f"{out}.{2 * index + 2}")) // COUNTED for index, name in enumerate(names)}


def _total(path: Path) -> int:
    """The instructions of one dump."""
    for line in path.read_text().splitlines():
        if line.startswith(("totals:", "summary:")):
            return int(line.split()[1])
    raise SystemExit(f"{path} has no total; see what Valgrind says")


def machine() -> dict[str, str]:
    """What a count depends on besides the code."""
    import numpy

    model = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    return {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "processor": model.partition(":")[2].strip(),
    }


def main(arguments: list[str]) -> None:
    what, *given = arguments or ["compare"]
    if what == "serve":
        serve(given)
        return
    names = given or list(lines())
    here = machine()
    before: dict[str, int] = {}
    for text in RECORD.read_text().splitlines() if RECORD.exists() else ():
        row = json.loads(text)
        if row["machine"] == here:
            before |= row["instructions"]
    found = counted(names)
    lost = []
    for name in names:
        ratio = found[name] / before[name] if name in before else None
        print(
            f"{name:28} {found[name] / 1e6:10.2f} million"
            + (f"  {ratio:6.3f} of the record" if ratio else "  not recorded here")
        )
        if ratio is not None and ratio > 1.0 + LOSS:
            lost.append(name)
    if what == "record":
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        row = {"commit": commit.stdout.strip(), "machine": here, "instructions": found}
        with RECORD.open("a") as file:
            file.write(json.dumps(row) + "\n")
    elif lost:
        raise SystemExit(f"more instructions than recorded: {', '.join(lost)}")


if __name__ == "__main__":
    main(sys.argv[1:])
