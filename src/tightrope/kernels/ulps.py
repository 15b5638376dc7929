"""The only place where the accuracy of a library function is assumed.

Each constant C bounds the error of that function for an exact argument: C UNIT relative where the result is a normal
number, C SUBNORMAL absolute below. UNIT = 2**-53 is half an ulp of a double. tests/kernels/test_ulps.py and
test_angles.py measure each against Arb at 10^5 points and fail where the assumption does; kernels.fp_environment tries
a few hundred in every process. The constants of numpy's exp, expm1, log and log1p hold for those of Python's own math
module too.
Arithmetic and square roots are IEEE 754: round to nearest, gradual underflow.
"""

from __future__ import annotations

UNIT = 2.0**-53
SUBNORMAL = 5e-324  # spacing of the doubles below 2**-1022, where a relative error is no longer a bound

EXP = 4.0
EXPM1 = 4.0
LOG = 4.0
LOG1P = 4.0
ERFCX = 16.0  # scipy.special.erfcx(x) for x >= 0; ERFCX + x^2 for x < 0, where it squares x in one double

# Sine and cosine: for |x| <= ANGLE_MAX the absolute error is at most SINE min(|x|, 1) and COSINE units, weaker
# than a bound in units of the result. numpy.arctan2: relative.
SINE = 4.0
COSINE = 4.0
ANGLE_MAX = 2.0**30
ARCTANGENT = 4.0
HYPOT = 4.0  # numpy.hypot
LOGADDEXP = 8.0  # numpy.logaddexp(0, x), relative
