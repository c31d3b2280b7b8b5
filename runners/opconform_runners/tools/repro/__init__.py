"""A case as a short script that uses only the backend's own interface."""
