"""Mutation testing: small faults made by Cosmic Ray's operators, each given to the tests that reach its line."""
