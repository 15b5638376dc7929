"""Integer Gaussian noise."""
