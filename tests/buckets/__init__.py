"""Buckets: suites, outputs and results at URLs."""
