"""The backend `numpy`, the second implementation of every operation."""
