"""Numbers with error radii: knows arrays and balls, not privacy."""
