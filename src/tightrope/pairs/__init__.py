"""Families of dominating pairs, one file each."""
