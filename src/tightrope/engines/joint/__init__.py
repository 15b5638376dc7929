"""The joint engine: one sample drawn for several mechanisms, all of which run on it."""
