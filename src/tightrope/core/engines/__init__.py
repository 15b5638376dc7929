"""Engines: (pair, count) terms in, certified delta out. They know no mechanism."""
