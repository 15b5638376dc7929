"""core.losses.integer_noise."""
