"""Runners: they execute a suite on any backend, compare what comes back, and report."""
