"""The mathematics: from a text to a certified interval, in rooms that import from those beneath them."""
