"""What was seen of the cases of a run in packs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from opconform.errors import counted
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.tally import Tally


@dataclass(frozen=True, kw_only=True, slots=True)
class PackCounts:
    """How many cases were seen in packs.

    Attributes:
        counted: The cases that passed in a pack and were not executed alone.
        confirmed: Those that passed in a pack and alone.
        alone_only: Those that passed alone, but not in a pack.
        differing: The operations with a case that passed in a pack, but not alone.
    """

    counted: int
    confirmed: int
    alone_only: int
    differing: tuple[str, ...] = ()


def pack_counts(results: Sequence[Result], tallies: Iterable[Tally]) -> PackCounts | None:
    """How many cases were seen in packs, or None if there were no packs."""
    counts = Counter(result.pack for result in results)
    for tally in tallies:
        counts[tally.kind.pack] += tally.cases
    if not counts.keys() - {None}:
        return None
    return PackCounts(
        counted=counts["counted"],
        confirmed=counts["confirmed"],
        alone_only=counts["alone-only"],
        differing=tuple(sorted({result.op for result in results if result.pack == "differs"})),
    )


def packs_sentences(packs: PackCounts) -> Iterator[str]:
    """How much of the verdict is from packs."""
    both = packs.counted + packs.confirmed
    yield f"{counted(both, 'case')} passed in packs, {packs.confirmed:,} of them also alone"
    if packs.alone_only:
        yield f"{counted(packs.alone_only, 'case passes', 'cases pass')} alone, but not in a pack"
    if packs.differing:
        names = ", ".join(packs.differing)
        yield f"Executed without packs, since a case passed in a pack, but not alone: {names}"
