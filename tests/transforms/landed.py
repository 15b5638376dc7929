"""Whether an expression is one that the package knows: rows of what it lacks wait."""

from __future__ import annotations

import tightrope as tr


def known(expression: str) -> bool:
    """Whether its names and keywords are known; everything else about it is for the test to say."""
    try:
        tr.parse(expression)
    except tr.ExpressionError as error:
        if "unknown" in str(error) or "takes no" in str(error):
            return False
    except tr.TightropeError:
        return True
    return True
