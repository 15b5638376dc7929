"""core.losses.renyi."""
