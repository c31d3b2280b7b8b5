"""The rows of the backend `torch`: its function for each operation."""
