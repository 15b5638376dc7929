"""core.engines.contour."""
