"""Pairs that are known by bounds on their Renyi divergences only."""
