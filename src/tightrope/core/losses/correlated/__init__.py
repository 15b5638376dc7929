"""core.losses.correlated."""
