"""Which part of a campaign over all cases, mutants and findings CI runs."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from hashlib import sha256

#: A pattern of the hexadecimal digits that a case's id ends with: one in eight, or `*` for all, before a release.
SAMPLE = os.environ.get("OPCONFORM_SAMPLE", "*[01]")
WHOLE = SAMPLE == "*"


def sampled(names: Iterable[str]) -> list[str]:
    """The sample of other names, in which their digests decide."""
    return [name for name in names if fnmatchcase(sha256(name.encode()).hexdigest(), SAMPLE)]
