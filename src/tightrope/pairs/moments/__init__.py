"""Pairs of which the log moment function of the loss is all that is known."""
