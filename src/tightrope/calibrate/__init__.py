"""The least noise, the largest rate or count that meets a target.

calibration.py -> search.py -> domain.py (which values the unknown may take) and target.py (how a value answers).
"""

from .calibration import Calibration as Calibration
from .calibration import Missed as Missed
from .calibration import SearchOptions as SearchOptions
from .calibration import calibrate as calibrate
