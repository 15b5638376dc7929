"""Pairs with finitely many losses."""
