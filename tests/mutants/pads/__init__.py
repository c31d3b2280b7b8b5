"""Mutants of Pad-12, and the implementation that they change."""
