"""The backend `iree`."""
