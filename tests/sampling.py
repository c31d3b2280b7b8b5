"""Which part of a campaign over all cases, mutants and findings CI runs."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from hashlib import sha256

#: The last hexadecimal digits of what is run, as a pattern: one in 64, or `*` for all, before a release.
DIGITS = os.environ.get("OPCONFORM_SAMPLE", "[0-3]0")
#: The pattern of the cases.
SAMPLE = f"*/*/*{DIGITS}"
WHOLE = DIGITS == "*"


def sampled(names: Iterable[str]) -> list[str]:
    """The sample of other names, in which their digests decide."""
    return [name for name in names if fnmatchcase(sha256(name.encode()).hexdigest(), f"*{DIGITS}")]
