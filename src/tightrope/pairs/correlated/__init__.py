"""Correlated noise with random bins: the pair of a mixture of Gaussians around the sums of a bin's columns."""
