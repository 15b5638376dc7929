"""Noise that is cut or clamped to bounds."""
