"""python -m tightrope.cli"""

from __future__ import annotations

from . import main

main()
