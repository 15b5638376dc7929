"""Symmetric log-concave noise on the whole numbers: Skellam and binomial."""
