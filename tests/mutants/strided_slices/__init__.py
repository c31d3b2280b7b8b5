"""Mutants of StridedSlice-1."""
