"""The schema of specs."""
