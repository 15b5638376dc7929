"""Mechanisms made from mechanisms; each transformation names its theorem."""
