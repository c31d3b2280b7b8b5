"""Updates of elements at indices."""
