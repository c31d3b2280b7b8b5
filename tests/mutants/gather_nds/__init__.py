"""Mutants of GatherND-8, and the implementation that they change."""
