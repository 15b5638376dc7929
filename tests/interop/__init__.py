"""Tests that need other libraries: make test-interop runs them, make test does not collect them."""
