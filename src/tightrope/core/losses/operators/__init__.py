"""Pairs made of other pairs, or of whole numbers: no family is known in here."""
