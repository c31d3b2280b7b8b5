"""What a run says about its claims."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from opconform.errors import counted
from opconform_runners.verdicts.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """What a run says about its claims.

    Attributes:
        digest: The SHA-256 of the file of claims.
        claimed: How many of the `valid` cases the claims cover.
        refused: How many claimed cases the backend refused.
    """

    digest: str
    claimed: int
    valid: int
    refused: int


def claimed_of(claims: str, results: Sequence[Result]) -> Claimed:
    """What results say about the claims in a text."""
    valid = [result for result in results if result.expect == "accept"]
    return Claimed(
        digest=hashlib.sha256(claims.encode()).hexdigest(),
        claimed=sum(not result.unclaimed for result in valid),
        valid=len(valid),
        refused=sum(result.reason == "claimed" for result in valid),
    )


def claimed_text(claims: Claimed) -> str:
    """How many cases are claimed, as in `2,001 of 4,272 valid cases claimed, 3 of them refused`."""
    refused = f", {claims.refused:,} of them refused" if claims.refused else ""
    return f"{claims.claimed:,} of {counted(claims.valid, 'valid case')} claimed{refused}"
