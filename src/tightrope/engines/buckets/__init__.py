"""Privacy buckets, as published or chosen by the question, with rounding inside the bounds."""
