"""What people ask of a training run before it starts: the number that is still open, and what each loader costs.

unknown.py finds one number (calibrate), batches.py the largest batch; frontier.py does so for many values of another,
samplings.py asks every loader the same question.
"""

from __future__ import annotations

from .frontier import Frontier as Frontier
from .frontier import FrontierRow as FrontierRow
from .frontier import frontier as frontier
from .samplings import SamplingRow as SamplingRow
from .samplings import Samplings as Samplings
from .samplings import by_sampling as by_sampling
