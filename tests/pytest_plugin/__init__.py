"""Tests of the pytest plugin's parts that need no pytest of their own."""
