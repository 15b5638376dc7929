"""Mixtures of Gaussian shifts: groups of records under sampling, and replacements under Poisson sampling."""
