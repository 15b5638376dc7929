"""Poisson-sampled Gaussians: their cgf by certified quadrature, whole or in marked parts."""
