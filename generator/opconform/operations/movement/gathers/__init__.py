"""Selections by indices."""
