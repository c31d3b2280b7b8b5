"""Faulty implementations, each one small change to a right one: what a suite must be able to catch."""
