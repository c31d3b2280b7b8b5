"""The search for failures beyond the shipped cases: cases drawn from the declarations of operations."""
