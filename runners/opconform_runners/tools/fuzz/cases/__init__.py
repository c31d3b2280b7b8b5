"""The cases of a search: drawn, changed, reduced, and written as specs."""
