"""The logistic family: tight for the exponential mechanism."""
