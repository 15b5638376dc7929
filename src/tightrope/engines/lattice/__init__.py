"""The lattice engine: certified bounds for any composition of any pairs."""
