"""core.losses.density."""
