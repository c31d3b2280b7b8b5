"""The matrix of a group: its expressions, and the combinations of its values."""
