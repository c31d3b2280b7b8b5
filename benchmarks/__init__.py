"""Measurements: speed, peers, and what opconform withstands."""
