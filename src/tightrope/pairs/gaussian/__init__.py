"""The family of Gaussian shifts."""
