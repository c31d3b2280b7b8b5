"""Processes that a backend can crash or hang."""
