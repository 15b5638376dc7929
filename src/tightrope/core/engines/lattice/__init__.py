"""core.engines.lattice."""
