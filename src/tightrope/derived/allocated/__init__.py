"""One of several steps has the record: laws of the mean of independent ratios, on graded grids."""
