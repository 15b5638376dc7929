"""Few or visible hits of Poisson sampling: compositions whose large losses can be told apart from the rest."""
