"""Mutants of Slice-8."""
