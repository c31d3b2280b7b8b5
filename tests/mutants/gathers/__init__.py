"""Mutants of Gather-8, and the implementation that they change."""
