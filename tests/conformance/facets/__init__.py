"""One check per facet: whatever a pair offers is held against the oracle, in both arithmetics."""
