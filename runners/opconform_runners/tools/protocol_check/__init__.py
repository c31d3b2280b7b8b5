"""Checks whether a harness follows the rules of the protocol."""
