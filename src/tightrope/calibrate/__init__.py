"""The least noise, the largest rate or count that meets a target.

calibration.py -> search.py -> domain.py (which values the unknown may take) and goal.py (how a value answers), by the
probes (probe.py) of a target (target.py).
"""

from .calibration import Calibration as Calibration
from .calibration import Missed as Missed
from .calibration import SearchOptions as SearchOptions
from .calibration import calibrate as calibrate
from .target import Target as Target
