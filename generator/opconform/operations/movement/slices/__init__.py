"""Slices with steps."""
