"""What Opacus, TensorFlow Privacy and dp-accounting say themselves: writes tests/reference/accountants.json.

Usage: pip install dp-accounting==0.6.0 scipy; pip download --no-deps opacus==1.6.0 dp-accounting==0.4.3, unpacked into
two folders; python benchmarks/accountants.py OPACUS_FOLDER OLD_FOLDER > tests/reference/accountants.json
Opacus is asked through the module that computes, which needs no torch; TensorFlow Privacy 0.9.0 asks the RdpAccountant
of dp-accounting 0.4.3 and pins that version.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

CASES = (  # sigma, rate, steps, delta
    (1.1, 256 / 60000, 3516, 1e-5),
    (1.3, 256 / 60000, 3516, 1e-5),
    (1.0, 0.01, 1000, 1e-6),
    (4.0, 0.01, 10000, 1e-5),
    (0.8, 0.5, 10, 1e-6),
    (20.0, 0.001, 1, 1e-3),
)
OPACUS_ORDERS = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))  # RDPAccountant.DEFAULT_ALPHAS


def loaded(path: Path) -> ModuleType:
    """A module by its file alone."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opacus(folder: Path) -> list[float]:
    """get_privacy_spent at the default orders."""
    rdp = loaded(folder / "opacus" / "accountants" / "analysis" / "rdp.py")
    found = []
    for sigma, rate, steps, delta in CASES:
        spent = rdp.compute_rdp(q=rate, noise_multiplier=sigma, steps=steps, orders=OPACUS_ORDERS)
        found.append(float(rdp.get_privacy_spent(orders=OPACUS_ORDERS, rdp=spent, delta=delta)[0]))
    return found


def google(kind: str) -> list[float]:
    """RdpAccountant or PLDAccountant as they come."""
    import dp_accounting as library

    make = library.rdp.RdpAccountant if kind == "rdp" else library.pld.PLDAccountant
    found = []
    for sigma, rate, steps, delta in CASES:
        accountant = make()
        accountant.compose(library.PoissonSampledDpEvent(rate, library.GaussianDpEvent(sigma)), steps)
        found.append(float(accountant.get_epsilon(delta)))
    return found


def main() -> None:
    """Old versions run in a process of their own, ahead on the path."""
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["rdp"]:
        sys.path.insert(0, sys.argv[2])
        json.dump(google("rdp"), sys.stdout)
        return
    old = subprocess.run([sys.executable, __file__, "rdp", sys.argv[2]], capture_output=True, check=True, text=True)
    said = {"opacus": opacus(Path(sys.argv[1])), "tf-privacy": json.loads(old.stdout), "google": google("pld")}
    rows = [
        {"sigma": sigma, "rate": rate, "steps": steps, "delta": delta, **{name: said[name][row] for name in said}}
        for row, (sigma, rate, steps, delta) in enumerate(CASES)
    ]
    versions = {"opacus": "1.6.0", "tf-privacy": "0.9.0 (dp-accounting 0.4.3)", "google": "dp-accounting 0.6.0"}
    command = "python benchmarks/accountants.py OPACUS_FOLDER OLD_FOLDER"
    print(json.dumps({"command": command, "versions": versions, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
