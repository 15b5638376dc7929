"""core.engines.hits."""
