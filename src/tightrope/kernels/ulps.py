"""The only place where the accuracy of a library function is assumed.

Each constant bounds the relative error of that function, for an exact argument, in units of UNIT = 2**-53 (half an
ulp of a double), wherever the result is a normal number. tests/kernels/test_ulps.py measures each against Arb at
10^5 points and fails where the assumption does.
"""

from __future__ import annotations

UNIT = 2.0**-53
TINY = 2.0**-1022  # smallest normal double: below it a relative error is no longer a bound
SUBNORMAL = 5e-324  # absolute error of one operation whose result underflows

EXP = 4.0
EXPM1 = 4.0
LOG = 4.0
LOG1P = 4.0
ERFCX = 16.0  # scipy.special.erfcx
