"""Sends the cases of a suite to a harness and collects the outcomes."""
