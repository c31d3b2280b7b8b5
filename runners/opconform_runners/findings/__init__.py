"""Why cases failed: a run's failures, and what they have in common."""
