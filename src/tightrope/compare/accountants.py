"""What libraries report: their orders, steps and formulas, in certified arithmetic.

Each number is what its library computes, but for its rounding and what it cuts off. Orders and formulas were read in
the sources of the versions named; tests/reference/accountants.json holds what the libraries themselves say.
Opacus 1.6.0: DEFAULT_ALPHAS of its RDPAccountant and get_privacy_spent; one asks for it with accountant="rdp".
TensorFlow Privacy 0.9.0: compute_dp_sgd_privacy_statement, whose default is the RdpAccountant of dp-accounting 0.4.3
(DEFAULT_RDP_ORDERS, compute_epsilon). dp-accounting 0.6.0: PLDAccountant, whose default value_discretization_interval
is 1e-4, with connect-the-dots.
"""

from __future__ import annotations

from ..convert.chords import ChordGrid
from ..convert.listed_orders import ListedOrders
from .methods import Method

TENTHS = tuple(1.0 + tenth / 10.0 for tenth in range(1, 100))
OPACUS_ORDERS = (*TENTHS, *map(float, range(12, 64)))
TF_PRIVACY_ORDERS = (*TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0)
GOOGLE_STEP = 1e-4

_OPACUS = ListedOrders(OPACUS_ORDERS)
_TF_PRIVACY = ListedOrders(TF_PRIVACY_ORDERS, variation=True)
_GOOGLE = ChordGrid(GOOGLE_STEP)

ACCOUNTANTS = (
    Method(
        "RDP, Opacus 1.6.0",
        "the moments at 151 orders up to 63, and one exponential for a tail (accountant rdp; its default is prv)",
        _OPACUS.epsilon,
        _OPACUS.delta,
    ),
    Method(
        "RDP, TF-Privacy 0.9.0",
        "the moments at 156 orders up to 1024, and one exponential in place of a tail",
        _TF_PRIVACY.epsilon,
        _TF_PRIVACY.delta,
    ),
    Method(
        "PLD, Google dp-accounting 0.6.0",
        "the loss on a grid of step 1e-4 by chords, whose cost grows with the count; it cuts off some 1e-15 besides",
        _GOOGLE.epsilon,
        _GOOGLE.delta,
    ),
)
