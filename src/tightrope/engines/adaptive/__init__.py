"""Lower bounds for compositions in which each use chooses anew, from all that was seen, among several real pairs."""
