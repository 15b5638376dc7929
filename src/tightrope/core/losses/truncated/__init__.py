"""core.losses.truncated."""
