"""The log of outcomes: what a run leaves behind, and what is derived from it."""
