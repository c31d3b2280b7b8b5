"""Mutants of Transpose-1: a right implementation in small steps, and rows that replace its hooks."""
