"""Pairs of shuffled reports."""
