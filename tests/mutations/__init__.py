"""Faults that the suite must kill: each is applied, and the test named for it must fail."""
