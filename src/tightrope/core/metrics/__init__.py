"""Every statement that can be read off one certified law: trade-offs, risks, divergences, GDP, zCDP.

ask.py -> table.py (one row per reading) -> a function of a Law (law.py), which tells the profile of the run.
"""

from .ask import ask as ask
from .ask import ask_each as ask_each
from .ask import ask_one as ask_one
from .curve_points import tradeoff_curve as tradeoff_curve
