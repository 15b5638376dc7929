"""What a pair may know of itself beyond its tails: facets, which engines ask for."""
