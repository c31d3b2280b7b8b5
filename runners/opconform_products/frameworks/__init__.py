"""The backends of Python frameworks: one row per operation, and what surrounds a framework's own call."""
