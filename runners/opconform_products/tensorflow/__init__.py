"""The backend `tensorflow`."""
