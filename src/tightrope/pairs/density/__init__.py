"""Pairs given by two smooth densities."""
