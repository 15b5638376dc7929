"""core.engines.buckets."""
