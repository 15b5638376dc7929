"""Dominating pairs, read through their privacy loss: the interface, what a pair may know, and the families."""
