"""Which requirement a failure speaks against: what the comparison found decides, and not what a group lists."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.case import Reject
from opconform.suite.manifest import Entry, Header, OtherReadings, RequirementNote
from opconform.suite.reader import Suite
from opconform.suite.storage.store import Folder
from opconform_runners.verdicts.comparison import Mismatch, is_altered
from opconform_runners.verdicts.judge import broken_by, final_verdict
from opconform_runners.verdicts.verdict import Fail, FailReason, Inconclusive, Pass

LEVELS = {
    "lengths.remainder": "normative",
    "lengths.zero": "interpretation",
    "data.element-type": "normative",
    "data.bits": "normative",
    "data.nan-payload": "interpretation",
    "outputs.count": "normative",
    "outputs.element-type": "normative",
    "outputs.shape": "normative",
    "outputs.order": "normative",
    "values.bounded": "interpretation",
    "axis.range": "normative",
}
#: What a case can violate, so that valid cases list it as the twins of rejected ones do.
VIOLABLE = ("axis.range",)
NO_OTHER = OtherReadings()
HEADER = Header(
    version="1.0.0",
    generator="0.1.0",
    recipe="0" * 64,
    seed=0,
    blind=False,
    dialects={},
    specs={},
    specification={},
    requirements={
        "Op-1": {
            name: RequirementNote(level=level, text="", violable=name in VIOLABLE)  # type: ignore[arg-type]
            for name, level in LEVELS.items()
        }
    },
    establishes={
        "Op-1": {
            "count": ("outputs.count",),
            "element-type": ("outputs.element-type", "data.element-type"),
            "shape": ("outputs.shape",),
            "value": ("outputs.order",),
            "bits": ("data.bits",),
            "nan-payload": ("data.nan-payload",),
            "rounding": ("values.bounded",),
        }
    },
    declarations=(),
    counts={},
    cases={},
    digest="0" * 64,
)


def entry(requirements: Sequence[str], reject: str | None = None, readings: OtherReadings = NO_OTHER) -> Entry:
    """A line of a manifest."""
    return Entry(
        id="Op-1/group/0123456789",
        profile="core",
        requirements=tuple(requirements),
        expect="accept" if reject is None else Reject(reject=reject),
        twin=None,
        files={},
        readings=readings,
    )


def mismatch(*, altered: bool = False, readings: tuple[str, ...] = ()) -> Mismatch:
    """A mismatch of values."""
    return Mismatch(reason="value", sentence="", feed=0, output="output_0", altered=altered, readings=readings)


TYPES = ["data.element-type", "outputs.element-type", "data.bits", "data.nan-payload"]


@pytest.mark.parametrize(
    ("requirements", "reason", "altered", "broken"),
    [
        (["lengths.remainder"], "value", True, ("data.bits",)),  # a plugin that narrows i64 resolves -1 rightly
        (["lengths.remainder", "data.bits"], "value", False, ("lengths.remainder",)),
        (["lengths.remainder"], "shape", False, ("lengths.remainder",)),
        (["outputs.count", "lengths.remainder"], "count", False, ("outputs.count",)),
        (TYPES, "element-type", False, ("outputs.element-type",)),
        (["lengths.remainder"], "element-type", False, ("outputs.element-type",)),
        (TYPES, "crash", False, ("data.element-type",)),
        (TYPES, "value", True, ("data.bits",)),
        (TYPES, "nan-payload", False, ("data.nan-payload",)),
        (["lengths.zero", "outputs.count"], "rejected-valid", False, ("outputs.count",)),
        (["lengths.zero"], "rejected-valid", False, ("outputs.shape",)),
        (["lengths.zero", "outputs.count"], "count", False, ("outputs.count",)),
        (["lengths.zero"], "crash", False, ("outputs.shape",)),
        (["lengths.zero"], "timeout", False, ("outputs.shape",)),
        (
            ["axis.range"],
            "value",
            False,
            ("outputs.order",),
        ),  # a valid axis that is accepted does not violate its range
        (["axis.range"], "shape", False, ("outputs.shape",)),
        (["axis.range"], "count", False, ("outputs.count",)),
        (["axis.range"], "rejected-valid", False, ("axis.range",)),
        (["axis.range", "lengths.remainder"], "value", False, ("lengths.remainder",)),
        (["outputs.shape", "data.bits"], "value", False, ("data.bits",)),
        (["lengths.zero"], "value", False, ("outputs.order",)),
        (["lengths.zero"], "shape", False, ("outputs.shape",)),
        (["lengths.zero"], "count", False, ("outputs.count",)),
        ([], "crash", False, ()),
    ],
)
def test_a_failure_breaks_what_the_comparison_found(
    requirements: list[str], reason: FailReason, altered: bool, broken: tuple[str, ...]
) -> None:
    """Changed elements break the requirement on bits; other failures break the first one that is not shown to be kept."""
    found = mismatch(altered=altered) if reason == "value" else None

    assert broken_by(entry(requirements), reason, found, HEADER) == broken


def test_accepting_an_invalid_case_breaks_what_it_violates() -> None:
    """And no other requirement of its group."""
    rejected = entry(["lengths.zero", "outputs.count"], reject="lengths.zero")

    assert broken_by(rejected, "accepted-invalid", None, HEADER) == ("lengths.zero",)


def test_a_crash_of_an_invalid_case_breaks_a_normative_requirement() -> None:
    """Also where only an interpretation says that it is invalid: by its other reading it is valid."""
    rejected = entry(["lengths.zero"], reject="lengths.zero")

    assert broken_by(rejected, "crash", None, HEADER) == ("outputs.shape",)
    assert broken_by(entry(["axis.range"], reject="axis.range"), "crash", None, HEADER) == ("axis.range",)


def test_what_another_reading_gives_breaks_its_interpretation() -> None:
    """A rejection or outputs, in a case that lists a normative requirement as well; but no crash, and nothing else."""
    readings = OtherReadings(reject=("lengths.zero",), outputs={"0" * 64: ("data.rank",)})
    touched = entry(["outputs.count", "lengths.zero"], readings=readings)

    assert broken_by(touched, "rejected-valid", None, HEADER) == ("lengths.zero",)
    assert broken_by(touched, "value", mismatch(readings=("data.rank",)), HEADER) == ("data.rank",)
    assert broken_by(touched, "value", mismatch(), HEADER) == ("outputs.order",)
    assert broken_by(touched, "value", mismatch(readings=("lengths.zero",)), HEADER) == ("outputs.order",)
    assert broken_by(touched, "crash", None, HEADER) == ("outputs.count",)


def test_a_rounded_result_that_another_reading_gives_breaks_its_interpretation() -> None:
    """And not the one on rounding, even if the result has bounds: zeros of another sign are an example."""
    touched = entry(["outputs.count"], readings=OtherReadings(outputs={"0" * 64: ("lengths.zero",)}))
    rounded = replace(mismatch(), reason="rounding")

    assert broken_by(touched, "rounding", rounded, HEADER) == ("values.bounded",)
    assert broken_by(touched, "rounding", replace(rounded, readings=("lengths.zero",)), HEADER) == ("lengths.zero",)


@pytest.mark.parametrize(
    ("of_twin", "counts"),
    [
        (
            Fail(reason="rounding", sentence="", mismatch=replace(mismatch(), reason="rounding")),
            True,
        ),
        (Fail(reason="value", sentence="", mismatch=mismatch()), False),
        (Fail(reason="rejected-valid", sentence=""), False),
        (Fail(reason="crash", sentence=""), False),
    ],
)
def test_a_rejection_counts_beside_a_twin_that_only_deviates(of_twin: Fail, counts: bool, tmp_path: Path) -> None:
    """A twin that is less accurate is accepted; one that is refused or wrong shows nothing of the rejection."""
    twin = replace(entry([], readings=OtherReadings(reject=("lengths.zero",))), id="Op-1/group/1111111111")
    rejected = replace(entry(["axis.range"], reject="axis.range"), twin=twin.id)
    suite = Suite(store=Folder(tmp_path), header=HEADER, entries=(twin, rejected))
    verdict = final_verdict(suite, rejected, {rejected.id: Pass(), twin.id: of_twin})

    assert isinstance(verdict, Pass if counts else Inconclusive)


@pytest.mark.parametrize(
    ("actual", "altered"),
    [([3, 4], False), ([1, 3], False), ([1, 9], True), ([0, 2], True)],
)
def test_an_element_is_altered_if_no_input_has_its_bits(actual: list[int], altered: bool) -> None:
    """An element from another place of the input is misplaced, not altered."""
    data, axis = np.array([1, 2, 3, 4], np.int32), np.array(0, np.int64)

    assert is_altered(np.array([1, 2], np.int32), np.array(actual, np.int32), [data, axis]) is altered
