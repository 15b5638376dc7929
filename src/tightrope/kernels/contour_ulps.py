"""What the contour engine assumes of the library's sine and cosine.

For an exact argument x with |x| <= ANGLE_MOST the error of sin is at most SINE min(|x|, 1) and that of cos at most
COSINE, in units of UNIT = 2**-53: weaker than a bound in units of the result. tests/engines/test_contour_ulps.py
measures both against Arb at 10^5 points.
"""

from __future__ import annotations

SINE = 4.0
COSINE = 4.0
ANGLE_MOST = 2.0**30
ARCTANGENT = 4.0  # numpy.arctan2, relative
