"""Tests, and in oracle/ the truth they compare with."""
