"""Pairs of random allocation: each record takes part in so many of the steps."""
