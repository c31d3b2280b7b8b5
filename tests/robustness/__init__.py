"""Attempts to break opconform. `OPCONFORM_ATTEMPTS=N` makes N times as many of those that are random."""

import os
import random


def attempts(count: int) -> int:
    """How many attempts a test makes."""
    return max(1, round(count * float(os.environ.get("OPCONFORM_ATTEMPTS", "1"))))


def seeded(name: object) -> random.Random:
    """Random numbers that are the same in each run."""
    return random.Random(f"2026 {name}")  # noqa: S311 - no secret
