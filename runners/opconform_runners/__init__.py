"""Runners: execute a suite on any backend, compare the outputs, and report the results."""
