"""Privacy buckets, exactly as published, with rounding inside the bounds."""
