"""core.losses.finite."""
