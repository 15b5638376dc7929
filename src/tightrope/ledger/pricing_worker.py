"""A process that works out prices and designs: lines of JSON in, lines of JSON out, one at a time.

    {"id": 7, "price": [kind, shared, expression, slack]}     ->  {"id": 7, "found": {...}, "held": bytes}
    {"id": 8, "design": [kind, wanted, inherited]}            ->  {"id": 8, "refused": {"kind": .., "message": ..}, ..}
When the input ends, whoever asked is gone, and so is this process, whatever it is doing.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from queue import SimpleQueue
from typing import Any

from .. import Relation, TightropeError
from ..extend import processes
from .filters import kind_of
from .filters.base import Design, Wanted
from .pricing import price_document, priced

NICE = 5  # the server answers first
WARM = ["rdp", {"relation": "add_remove", "orders": {"8.0": 1.0}}, "Gaussian(sigma=1.0).poisson(rate=0.01)", None]
NO_PRICE = "UnsupportedMechanism"
LARGE = "this takes more memory than the ledger gives a job: a simpler one may do"
FAULTY = "this met a fault of the ledger's: write it in another way, and tell whoever runs the ledger"


def answered(order: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, or one line that says why not."""
    try:
        if "price" in order:
            return {"found": price_document(priced(*order["price"]))}
        return {"found": design_document(*order["design"])}
    except TightropeError as error:
        return {"refused": {"kind": type(error).__name__, "message": str(error)}}
    except MemoryError:
        return {"refused": {"kind": NO_PRICE, "message": LARGE}}
    except Exception:  # whatever one job meets, the next one is answered
        traceback.print_exc()
        return {"refused": {"kind": NO_PRICE, "message": FAULTY}}


def design_document(kind: str, wanted: Mapping[str, Any], inherited: Mapping[str, Any] | None) -> dict[str, Any]:
    """A design as JSON."""
    asked = Wanted(**{**wanted, "relation": Relation(wanted["relation"])})
    design: Design = kind_of(kind).design(asked, inherited)
    return {
        "kind": design.kind,
        "shared": dict(design.shared),
        "promise": dict(design.promise),
        "axes": [asdict(axis) for axis in design.axes],
    }


def _listen(waiting: SimpleQueue[dict[str, Any]]) -> None:
    """In a thread of its own, so that the end of the input is noticed in the middle of a job."""
    for line in sys.stdin.buffer:
        waiting.put(json.loads(line))
    os._exit(0)


def main() -> None:
    """Entry point of the process: until its input ends."""
    processes.limited(NICE)
    out = processes.answers()
    waiting: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(waiting,), daemon=True).start()
    answered({"price": WARM})
    processes.write(out, {"id": 0})
    while True:
        order = waiting.get()
        processes.write(out, {"id": order["id"], **answered(order), "held": processes.held()})
