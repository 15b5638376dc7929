"""core.losses.gaussian_mixture."""
