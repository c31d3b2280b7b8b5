"""Releases of a product: listed, installed in environments of their own, run, and searched for a change."""
