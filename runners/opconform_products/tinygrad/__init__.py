"""The backend `tinygrad`."""
