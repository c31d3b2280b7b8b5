"""What a report says of packs."""

from dataclasses import replace

from opconform_runners.findings.packs import PackCounts, pack_counts, packs_sentences
from opconform_runners.verdicts.results import Result, result_document, tally_kind_of
from opconform_runners.verdicts.tally import PackNote, Tally, tallies_of, tally_counts


def result(number: int, pack: PackNote | None) -> Result:
    """A case that passes, or does not."""
    return Result(
        id=f"Split-1/group/{number:010x}",
        profile="core",
        expect="accept",
        verdict="fail" if pack == "differs" else "pass",
        pack=pack,
    )


def test_a_report_counts_what_was_seen_in_packs() -> None:
    """And names the operations that are executed alone."""
    notes: tuple[PackNote | None, ...] = ("counted", "counted", "confirmed", "differs", "alone-only", None)
    counts = pack_counts([result(number, note) for number, note in enumerate(notes)], ())

    assert counts == PackCounts(counted=2, confirmed=1, alone_only=1, differing=("Split-1",))
    assert [*packs_sentences(counts)] == [
        "3 cases passed in packs, 1 of them also alone",
        "1 case passes alone, but not in a pack",
        "Executed without packs, since a case passed in a pack, but not alone: Split-1",
    ]


def test_a_run_without_packs_says_nothing_of_them() -> None:
    """Neither in its report nor in its results."""
    assert pack_counts([result(1, None)], ()) is None
    assert "pack" not in result_document(result(1, None))
    assert result_document(result(1, "counted"))["pack"] == "counted"


def test_tallies_count_passes_in_packs() -> None:
    """Apart from those alone, so that a streamed run can say how many they are."""
    notes: tuple[PackNote | None, ...] = ("counted", "counted", None)
    kinds = [tally_kind_of(result(number, note)) for number, note in enumerate(notes)]
    tallies = tallies_of(tally_counts(Tally(kind=kind, cases=1) for kind in kinds))

    assert [tally.cases for tally in tallies] == [1, 2]
    assert pack_counts([], tallies) == PackCounts(counted=2, confirmed=0, alone_only=0)
    assert kinds[0] == replace(kinds[2], pack="counted")
