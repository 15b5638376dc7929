"""dp-accounting's events as mechanisms and back, and an accountant of its kind that answers with certified bounds.

reading.py makes a mechanism of an event (setting.py: under which neighbours), writing.py an event of a mechanism,
accountant.py is the accountant, spending.py pays for events from a ledger. What each event means is what the text of
its class says, version 0.6.0.
"""

from ..missing import missing

try:
    import dp_accounting as _library  # noqa: F401
except ImportError:
    raise missing("dp_accounting", "dp-accounting==0.6.0") from None

from .accountant import TightropeAccountant as TightropeAccountant
from .reading import from_event as from_event
from .setting import UnsupportedEvent as UnsupportedEvent
from .spending import spending as spending
from .writing import to_event as to_event
