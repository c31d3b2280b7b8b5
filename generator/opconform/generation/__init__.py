"""From groups to a written suite."""
