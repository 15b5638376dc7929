"""Until when something may take: by the clock, or by the work of this thread, which no other work beside it changes."""

from __future__ import annotations

import os
import time

# Seconds that only go up; TIGHTROPE_CLOCK=off is for tests and for answers that do not depend on a machine's load.
now = time.thread_time if os.environ.get("TIGHTROPE_CLOCK") == "off" else time.monotonic
