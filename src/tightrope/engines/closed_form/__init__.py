"""Exact answers: a finite part times at most one other part whose profile is known."""
