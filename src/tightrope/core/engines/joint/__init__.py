"""core.engines.joint."""
