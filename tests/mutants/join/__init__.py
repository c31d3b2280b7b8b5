"""Mutants of Concat-1."""
