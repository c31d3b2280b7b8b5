"""Mutants of Reshape-1."""
