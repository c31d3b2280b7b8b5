"""Checks whether a harness keeps the rules of the protocol."""
