"""Shuffled reports: counts of what the users' reports may be, with and without the first user's own value."""
