"""Tools for authors and maintainers."""
