"""Mechanisms as text and as JSON: names, expressions, the catalogue, what a number assumes."""
