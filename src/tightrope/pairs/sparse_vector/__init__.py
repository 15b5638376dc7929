"""Noise with a flat top: what dominates the sparse vector technique."""
