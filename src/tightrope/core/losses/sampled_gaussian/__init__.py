"""core.losses.sampled_gaussian."""
