"""Lower ends: what real neighbours lose, and where each use chooses among several pairs."""
