"""The trials of a search: drawn from declarations, and reduced to what a failure needs."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from opconform.errors import HarnessError
from opconform.generation.case_files import case_files
from opconform.generation.expansion import expand, specs_of
from opconform.generation.options import LIMITS, Options
from opconform.model.draft import TensorDraft
from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.suite.case import Attribute
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.cases.reduction import reduce, shrink
from opconform_runners.tools.fuzz.cases.simplicity import cost
from opconform_runners.tools.fuzz.cases.spec_text import group_of, spec_text
from opconform_runners.tools.fuzz.cases.values import WIDE, drawn_tensor
from opconform_runners.tools.fuzz.trial import Trial, decided, is_defined, resized, with_tensors
from opconform_runners.tools.fuzz.trial import drawn as drawn_case
from tests.sampling import WHOLE, in_line

#: Those with several inputs, lists, few types, strings or attributes alone.
EVERY_OPERATION = pytest.mark.parametrize(
    "op", in_line(shipped_operations(), "Concat-1", "GatherTree-1", "Gelu-7", "Pad-12", "StringTensorPack-15", of=8)
)
#: The violations in 250 trials of operations that few arguments violate.
FEW = {
    **dict.fromkeys(("Abs-1", "Ceiling-1", "Erf-1", "Floor-1", "Log-1", "ReLU-1", "Sqrt-1", "Tanh-1"), 10),
    **dict.fromkeys(("Cos-1", "Round-5", "Sin-1", "Tan-1"), 15),
    "Convert-1": 20,
    "ConvertLike-1": 20,
    "NonZero-3": 3,
    "ShapeOf-1": 0,
    "ShapeOf-3": 3,
    "Sign-1": 5,
    "Squeeze-1": 20,
    "Squeeze-15": 20,
    "StringTensorUnpack-15": 10,
    "Unique-10": 30,
}
#: Attributes of MVN-6.
MVN: dict[str, Attribute] = {"normalize_variance": True, "eps": 1.0, "eps_mode": "inside_sqrt"}
#: The element types in them of operations whose inputs have one type.
TYPES = {"GatherTree-1": 9, "StringTensorPack-15": 9, "StringTensorUnpack-15": 8}


def drawn(op: str, count: int, seed: int = 0) -> list[Trial]:
    """The first trials of an operation."""
    return list(islice(Draws(OPERATIONS[op], seed), count))


def simplest(trial: Trial) -> Trial:
    """The simplest of the variants of a trial, if all of them fail."""
    variants = [trial]

    def fails(variant: Trial) -> bool:
        variants.append(variant)
        return True

    reduce(trial, fails)
    return min(variants, key=lambda x: cost(x.draft))


@EVERY_OPERATION
def test_a_trial_is_valid_or_violates_one_requirement(op: str) -> None:
    """The last feed violates it; the feeds before it, and the twin, are valid."""
    for trial in drawn(op, 20):
        *before, last = (inference.violated for inference in trial.draft.inferences)
        expected = () if trial.draft.rejected_for is None else (trial.draft.rejected_for,)
        assert (before, last) == ([()] * len(before), expected)
        assert (trial.twin is None) == (trial.draft.rejected_for is None)
        if trial.twin is not None:
            assert {inference.violated for inference in trial.twin.inferences} == {()}


@pytest.mark.parametrize(("op", "count"), [("ReduceMax-1", 30), ("Unsqueeze-1", 80), ("Gather-1", 80)])
def test_a_trial_whose_results_are_not_known_is_drawn_again(op: str, count: int) -> None:
    """Of special elements in one inference alone, settings that a neighbour computes, and a neighbour that computes."""
    defined = [trial for trial in drawn(op, count) if is_defined(trial, 0)]
    ids = {case_files(draft, Options())[0].id for trial in defined for draft in trial.drafts}

    assert len(defined) > count // 2
    assert ids == {draft.id for trial in defined for draft in trial.drafts}


@pytest.mark.ci_only
@pytest.mark.parametrize("op", shipped_operations()[:: 1 if WHOLE else 4])
def test_trials_vary_in_everything_that_decides_failures(op: str) -> None:
    """Contexts, element types, bindings, declared dimensions, second feeds, and violations."""
    trials = drawn(op, 300)
    drafts = [trial.draft for trial in trials]

    assert len({draft.context for draft in drafts}) > 2
    assert len({tensor.element_type for draft in drafts for tensor in draft.tensors.values()}) > TYPES.get(op, 12)
    assert len({draft.content for draft in drafts}) == len(drafts)
    assert any(
        tensor.element_type in WIDE and tensor.fill != "ramp" for draft in drafts for tensor in draft.tensors.values()
    )
    assert {binding for draft in drafts for binding in draft.binding.values()} == {"constant", "parameter"}
    assert any(draft.dynamic for draft in drafts)
    assert any(draft.second for draft in drafts)
    assert sum(draft.rejected_for is not None for draft in drafts) > FEW.get(op, 50)


def test_an_empty_tensor_has_sizes_beyond_32_bits_that_numpy_can_make() -> None:
    """Sizes beside a dimension of 0 take no memory, but numpy multiplies them, and outputs do."""
    [start] = [x.draft for x in drawn("Split-1", 1)]

    def decided_on(*shape: int, num_splits: int = 1) -> bool:
        attributes = {"num_splits": num_splits}
        draft = replace(start, attributes=attributes, second=None, dynamic={}, context="bare")
        axis = TensorDraft(element_type="i64", shape=(), fill="values", elements=(0,))
        data = TensorDraft(element_type="f32", shape=shape, fill="ramp")
        return decided(with_tensors(draft, {"data": data, "axis": axis})) is not None

    assert decided_on(1 << 33, 0)
    assert not decided_on(1 << 33, 0, 1 << 33)
    assert not decided_on(1 << 33, 0, num_splits=1 << 33)


def test_no_output_has_more_dimensions_than_an_array_can_have() -> None:
    """A list of 65 sizes is short, but numpy makes no array of 65 dimensions."""
    [start] = [x.draft for x in drawn("Reshape-1", 1)]

    def is_decided(rank: int) -> bool:
        draft = replace(start, attributes={"special_zero": False}, second=None, dynamic={}, context="bare")
        shape = TensorDraft(element_type="i64", shape=(rank,), fill="values", elements=(1,) * rank)
        data = TensorDraft(element_type="f32", shape=(1,), fill="ramp")
        return decided(with_tensors(draft, {"data": data, "shape": shape})) is not None

    assert is_decided(64)
    assert not is_decided(65)


def test_a_list_that_becomes_too_long_is_not_written_out() -> None:
    """It would take gigabytes until the case is left out."""
    lengths = TensorDraft(element_type="i64", shape=(2,), fill="values", elements=(1, 1))

    assert resized(lengths, (4,)).elements == (1, 1, 1, 1)
    assert resized(lengths, (1 << 40,)).elements == (1, 1)


def test_a_new_list_is_not_as_long_as_a_huge_dimension() -> None:
    """Its elements would take gigabytes until the case is left out."""
    near = {"data": TensorDraft(element_type="f32", shape=(0, 1 << 40), fill="ramp")}
    axis = OPERATIONS["Split-1"].port_of("axis")

    lists = [drawn_tensor(axis, near, Random(seed)) for seed in range(40)]  # noqa: S311 - not for secrets

    assert max(len(list_.elements) for list_ in lists) < 100


def test_dimensions_and_the_numbers_that_must_match_them_grow_together() -> None:
    """Otherwise almost every valid split would have one output."""
    valid = [x.draft for seed in range(3) for x in drawn("Split-1", 130, seed) if x.twin is None]

    assert sum(x.attributes["num_splits"] != 1 for x in valid) > len(valid) / 8


@pytest.mark.parametrize(
    ("elements", "expected"), [((4.0, 0.0), True), ((4.0, -1.0), False)], ids=["a root", "no root"]
)
def test_a_trial_without_a_result_is_not_executed(elements: tuple[float, ...], expected: bool) -> None:
    """The page leaves the root of a negative number undefined."""
    data = TensorDraft(element_type="f32", shape=(2,), fill="values", elements=elements)
    draft = decided(drawn_case(OPERATIONS["Sqrt-1"], {"data": data}))

    assert draft is not None
    assert is_defined(Trial(draft=draft), seed=0) is expected


@pytest.mark.parametrize(("updates", "expected"), [(65, True), (66, False)])
def test_a_trial_with_too_many_right_elements_is_not_executed(updates: int, expected: bool) -> None:
    """A case lists the earlier updates of an element, of which the last one need not win, up to a limit."""
    data = TensorDraft(element_type="f32", shape=(updates,), fill="ramp")
    axis = TensorDraft(element_type="i64", shape=(), fill="values", elements=(0,))
    indices = TensorDraft(element_type="i64", shape=(updates,), fill="values", elements=(0,) * updates)
    tensors = {"data": data, "indices": indices, "updates": data, "axis": axis}
    draft = decided(drawn_case(OPERATIONS["ScatterElementsUpdate-3"], tensors))

    assert draft is not None
    assert is_defined(Trial(draft=draft), seed=0) is expected


def test_a_valid_trial_has_a_requirement_that_a_rejection_breaks() -> None:
    """Also of an operation that computes, whose outputs have no bits of the inputs."""
    requirements = {op: {x.draft.requirements for x in drawn(op, 30) if x.twin is None} for op in ("Abs-1", "CumSum-3")}

    assert all("values.exact" in listed for every in requirements.values() for listed in every)


def test_a_violation_that_another_node_mends_is_none() -> None:
    """A context that converts the axes gives the operation integers of an allowed type."""
    axes = TensorDraft(element_type="u64", shape=(0,), fill="values")
    data = TensorDraft(element_type="f32", shape=(), fill="ramp")
    draft = drawn_case(OPERATIONS["MVN-6"], {"data": data, "axes": axes}, MVN)

    bare, converted = decided(draft), decided(replace(draft, context="convert"))

    assert bare is not None
    assert bare.rejected_for == "axes.element-type"
    assert converted is None


def test_exact_results_of_a_trial_take_no_seconds() -> None:
    """Other operations would wait for them."""
    axes = TensorDraft(element_type="i64", shape=(1,), fill="values", elements=(0,))

    def is_decided(count: int) -> bool:
        data = TensorDraft(element_type="f32", shape=(count,), fill="ramp")
        return decided(drawn_case(OPERATIONS["MVN-6"], {"data": data, "axes": axes}, MVN)) is not None

    assert is_decided(512)
    assert not is_decided(4096)


def test_the_seed_alone_decides_the_trials() -> None:
    """Another seed draws other trials."""
    first, again, other = (drawn("Gather-8", 30, seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


@EVERY_OPERATION
def test_the_group_of_a_trial_expands_to_it(op: str, tmp_path: Path) -> None:
    """The case and its twin, byte for byte."""
    trials = drawn(op, 20, seed=3)
    file = tmp_path / "finds.yaml"
    file.write_text(spec_text(op, [group_of(trial, "found") for trial in trials]))

    [spec] = specs_of([file], seed=0, limits=LIMITS)
    expanded = [[x.content for x in expand(group)] for group in spec.groups]

    assert expanded == [[draft.content for draft in trial.drafts] for trial in trials]


@pytest.mark.parametrize(
    ("op", "requirement", "cases", "expected"),
    [
        # The twin [1, 0] of [-1, 0] is not valid without its second element, so one case alone can keep two dimensions.
        pytest.param(
            *("Transpose-1", "order.negative", 2, {"arg": ((0,), ()), "input_order": ((1,), (-1,))}),
            marks=pytest.mark.ci_only,
        ),
        ("GatherND-8", "indices.range", 1, {"data": ((1,), ()), "indices": ((1,), (1,))}),
        ("Concat-1", "axis.range", 1, {"inputs_0": ((0,), ())}),
    ],
)
def test_what_is_not_needed_is_left_out(op: str, requirement: str, cases: int, expected: dict[str, object]) -> None:
    """If every simpler case fails too, nothing is left but the violation. A search reduces two cases of each."""
    violating = (x for x in drawn(op, 400) if x.draft.rejected_for == requirement)
    draft = min((simplest(case).draft for case in islice(violating, cases)), key=cost)

    assert {name: (tensor.shape, tensor.elements) for name, tensor in draft.tensors.items()} == expected
    assert (draft.context, draft.second, draft.dynamic) == ("bare", None, {})


@pytest.mark.parametrize(("eps", "simplest_eps"), [(1e-6, 1e-6), (2.5, 1.0)])
def test_a_fraction_becomes_a_whole_number_if_that_fails_too(eps: float, simplest_eps: float) -> None:
    """An eps of 0 is not valid, so the fraction must stay if 1 does not fail."""
    axes = TensorDraft(element_type="i64", shape=(1,), fill="values", elements=(0,))
    data = TensorDraft(element_type="f32", shape=(2,), fill="ramp")
    draft = decided(drawn_case(OPERATIONS["MVN-6"], {"data": data, "axes": axes}, {**MVN, "eps": eps}))
    assert draft is not None
    failing = [draft]

    def fails(variant: Trial) -> bool:
        if float(str(variant.draft.attributes["eps"])) > eps:
            return False
        failing.append(variant.draft)
        return True

    reduce(Trial(draft=draft), fails)

    assert min(failing, key=cost).attributes["eps"] == simplest_eps


def test_every_kind_of_neighbour_is_drawn_and_left_out_if_it_is_not_needed() -> None:
    """Operations behind the operation under test; an invalid feed has no output for them, but one before it has."""
    trials = [x for x in drawn("Split-1", 400) if x.draft.then is not None]

    assert len({trial.draft.then.op for trial in trials if trial.draft.then is not None}) > 3
    assert all(trial.draft.second for trial in trials if trial.twin is not None)
    assert all(simplest(trial).draft.then is None for trial in trials[:3])


def test_hypothesis_shrinks_from_the_numbers_that_it_is_given() -> None:
    """It tries them first, and then only simpler ones. A version of hypothesis that does otherwise breaks all reductions."""
    tried: list[tuple[int, ...]] = []

    def is_failing(numbers: tuple[int, ...]) -> bool:
        tried.append(numbers)
        return numbers[0] >= 700 and numbers[1] <= -30

    shrink((934, -77, 5), [(0, 1000), (-100, 100), (0, 9)], is_failing)

    assert tried[0] == (934, -77, 5)
    assert min((x for x in tried if x[0] >= 700 and x[1] <= -30), key=lambda x: [*map(abs, x)]) == (700, -30, 0)


def test_a_reduction_ends_with_the_error_that_ends_executions() -> None:
    """Hypothesis would take it for a failure of the case, and continue."""
    [trial] = drawn("Split-1", 1)
    variants = []

    def fails(variant: Trial) -> bool:
        variants.append(variant)
        raise HarnessError("no harness")

    with pytest.raises(HarnessError, match="no harness"):
        reduce(trial, fails)
    assert len(variants) == 1


def test_a_trial_that_is_no_variant_of_itself_is_not_reduced() -> None:
    """A second feed that changes nothing is left out of all variants. If none of them fails, the trial stays."""
    data = TensorDraft(element_type="string", shape=(0, 4), fill="values")
    draft = decided(drawn_case(OPERATIONS["StringTensorUnpack-15"], {"data": data}))
    assert draft is not None

    reduce(Trial(draft=replace(draft, second={"data": data})), lambda _: False)


def test_a_reduction_writes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis keeps its examples in the current folder otherwise."""
    monkeypatch.chdir(tmp_path)
    simplest(drawn("Split-1", 1)[0])

    assert [*tmp_path.iterdir()] == []
