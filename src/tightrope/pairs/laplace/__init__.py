"""The Laplace family."""
