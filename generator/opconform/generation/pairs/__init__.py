"""Pairs of operations, derived from their samples."""
