"""Answers that are more than one number: curves, risks, laws of the loss, epochs."""
