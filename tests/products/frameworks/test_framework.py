"""What surrounds the call of a framework's row, on a framework whose tensors are tuples of numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from opconform.operations.checks import INTEGERS
from opconform.suite.case import Attribute, Graph, Input, Node
from opconform.suite.declarations import AttributeSpec, Declaration, DeclaredCase, Port, RanksFrom
from opconform_products.frameworks.framework import Adapter, Framework, Row
from opconform_products.frameworks.settings import COMPUTING, FrameworkOperand
from opconform_runners.backends.backend import Rejected, Unsupported
from opconform_runners.backends.constraints import resolved
from opconform_runners.backends.exceptions import Translation

TYPES = {"f32": float, "i64": int}
TILE = Declaration(
    name="Tile-1",
    inputs=(Port("data", ranks=RanksFrom(1)), Port("repeats", setting=True, types=INTEGERS, ranks=(1,))),
    moves_data=True,
)
FLIP = Declaration(
    name="Flip-1",
    inputs=(Port("data"), Port("axis", setting=True, optional=True, prefix="along")),
    attributes=(AttributeSpec("times", type="int", default=1), AttributeSpec("mode", type="string")),
    moves_data=True,
)
TRANSLATION = Translation(not_implemented=re.compile("no kernel"))


@dataclass(frozen=True)
class Numbers:
    """A tensor."""

    numbers: tuple[float, ...]
    shape: tuple[int, ...]
    dtype: type = float

    def tiled(self, repeats: list[int]) -> "Numbers":
        """The numbers, some times."""
        return vector(*self.numbers * repeats[0])

    def flipped(self, **_attributes: Any) -> "Numbers":
        """The numbers from the last one on."""
        return vector(*self.numbers[::-1])


def vector(*numbers: float) -> Numbers:
    """A tensor of one dimension."""
    return Numbers(numbers, (len(numbers),))


def tensor_of(value: list[float], kind: type) -> Numbers:
    """A tensor of Python's numbers."""
    return Numbers(tuple(value), np.shape(value), kind)


DATA = vector(1, 2)


def framework_of(**rows: Any) -> Framework:
    """A framework with rows for Tile-1 and Flip-1."""
    named = {f"{name}-1": row for name, row in rows.items()}
    return Framework(name="numbers", version="1", types=TYPES, rows=named, tensor=tensor_of, translation=TRANSLATION)


def executed(
    framework: Framework,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Attribute] | None = None,
    op: str = "Tile-1",
) -> list[Any]:
    """The outputs of a case with one node, for inputs in the order of its ports."""
    node = Node(name="node", op=op, inputs=tuple(inputs), outputs=("0",), attributes=attributes or {}, under_test=True)
    case = DeclaredCase(
        id=f"{op}/case/0123456789",
        op=op,
        title="a case",
        profile="core",
        requirements=(),
        context="bare",
        feeds=1,
        inputs=tuple(
            Input(name=name, role="data", element_type="i64", shape=np.shape(value), binding="constant")
            if isinstance(value, list)
            else Input(name=name, role="data", element_type="f32", shape=value.shape, binding="constant")
            for name, value in inputs.items()
        ),
        graph=Graph(nodes=(node,), outputs=("0",)),
        declarations=(TILE, FLIP),
    )
    return framework.outputs(case, inputs, TRANSLATION.caller("build"))


def refusal_of(framework: Framework, *arguments: Any) -> str | None:
    """The requirement that a rejection names."""
    with pytest.raises(Rejected) as refusal:
        executed(framework, *arguments)
    return refusal.value.requirement


def test_a_framework_executes_an_operation_by_its_function_alone() -> None:
    """Operands by position; settings are Python's own."""
    [output] = executed(framework_of(Tile=Numbers.tiled), {"data": DATA, "repeats": [2]})

    assert output == vector(1, 2, 1, 2)


def test_attributes_are_named_and_have_their_defaults() -> None:
    """What is omitted is left out."""
    seen: list[Any] = []

    def flip(data: Numbers, **attributes: Any) -> Numbers:
        seen.append(attributes)
        return data.flipped()

    framework = framework_of(Flip=Row(flip, Adapter(constraints=())))

    assert executed(framework, {"data": DATA}, {}, "Flip-1") == [vector(2, 1)]
    executed(framework, {"data": DATA}, {"mode": "m", "times": 3}, "Flip-1")
    assert seen == [{"times": 1}, {"times": 3, "mode": "m"}]


def test_an_adapter_makes_the_arguments() -> None:
    """It is given None for what is omitted, and its own None is left out."""
    seen: list[Any] = []

    def arguments(data: Numbers, axis: Any, *, times: Any, mode: Any) -> Sequence[Any]:
        seen.append((axis, times, mode))
        return data, axis

    executed(framework_of(Flip=Row(Numbers.flipped, Adapter(arguments, constraints=()))), {"data": DATA}, {}, "Flip-1")

    assert seen == [(None, 1, None)]


@pytest.mark.parametrize(
    ("inputs", "requirement"),
    [
        ({"data": Numbers((1,), ()), "repeats": [1]}, "data.rank"),
        ({"data": DATA}, "repeats.required"),
        ({"data": DATA, "repeats": [[1]]}, "repeats.rank"),
    ],
)
def test_a_framework_is_not_called_with_what_a_declaration_does_not_allow(
    inputs: Mapping[str, Any], requirement: str
) -> None:
    """The requirement is named."""
    assert refusal_of(framework_of(Tile=lambda *_: pytest.fail("called")), inputs) == requirement


def test_the_type_and_the_shape_of_a_setting_are_those_of_the_case() -> None:
    """Python's numbers have lost them; what is computed are integers."""
    framework = framework_of(Tile=Numbers.tiled)
    given = Input(name="repeats", role="setting", element_type="i8", shape=(0, 2), binding="constant")

    assert framework.operand([], given) == ([], "i8", (0, 2), True)
    assert framework.operand([3, 4]) == ([3, 4], "i64", (2,), True)
    assert framework.operand(3) == (3, "i64", (), True)
    assert framework.operand(DATA) == (DATA, "f32", (2,), True)


def test_a_constraint_that_the_framework_checks_reaches_it() -> None:
    """The row names those that are checked before."""

    def tile(data: Numbers, repeats: Any) -> Numbers:
        raise ValueError(f"no such repeats of {data}: {repeats}")

    framework = framework_of(Tile=Row(tile, Adapter(constraints=("data", "repeats.required"))))

    assert refusal_of(framework, {"data": DATA}) == "repeats.required"
    assert refusal_of(framework, {"data": DATA, "repeats": [[1]]}) is None


def test_only_the_frameworks_own_exceptions_are_translated() -> None:
    """One inside an adapter is a defect of the harness."""

    def broken(*_: Any) -> Sequence[Any]:
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        executed(framework_of(Tile=Row(Numbers.tiled, Adapter(broken))), {"data": DATA, "repeats": [1]})
    with pytest.raises(Rejected, match="ValueError: a defect"):
        executed(framework_of(Tile=broken), {"data": DATA, "repeats": [1]})


def test_a_setting_at_run_time_is_unsupported_unless_the_row_takes_it() -> None:
    """A value that is known when the graph is built is Python's own."""

    def tile(data: Numbers, repeats: Any) -> Numbers:
        return data if isinstance(repeats, Numbers) else data.tiled(repeats)

    inputs = {"data": DATA, "repeats": Numbers((), (1,), int)}
    known = replace(framework_of(Tile=tile), static=lambda _: [3])

    with pytest.raises(Unsupported, match="repeats is given at run time, and numbers takes Python's numbers"):
        executed(framework_of(Tile=tile), inputs)
    assert executed(framework_of(Tile=Row(tile, run_time=("repeats",))), inputs) == [DATA]
    assert executed(framework_of(Tile=Row(tile, tensors=("repeats",))), inputs) == [DATA]
    assert executed(known, inputs) == [vector(1, 2, 1, 2, 1, 2)]


def test_a_constant_of_the_graph_is_a_tensor_where_it_is_data_or_the_row_takes_one() -> None:
    """Of its element type and shape; as another setting, it is Python's own."""
    constant: dict[str, Attribute] = {"element_type": "i64", "shape": (2,), "value": (1, 2)}
    [data] = executed(framework_of(), {}, constant, "Constant-1")

    assert executed(framework_of(Tile=lambda data, _: data), {"data": data, "repeats": [1]}) == [
        Numbers((1, 2), (2,), int)
    ]
    assert executed(framework_of(Tile=Row(lambda _, x: x, tensors=("repeats",))), {"data": DATA, "repeats": data}) == [
        Numbers((1, 2), (2,), int)
    ]


def test_a_constant_without_elements_keeps_its_dimensions() -> None:
    """Nested lists have no dimensions behind one of 0."""
    data = FrameworkOperand([], "i64", (0, 0, 1))

    assert executed(framework_of(Tile=lambda data, _: data), {"data": data, "repeats": [1]}) == [
        Numbers((), (0, 0, 1), int)
    ]


def test_numbers_of_a_type_that_the_framework_lacks_for_a_setting_stay_pythons_own() -> None:
    """The framework converts them itself, as it does for its users."""
    row = Row(lambda data, repeats: (data, repeats), tensors=("repeats",), types={"repeats": ("i32",)})

    assert executed(framework_of(Tile=row), {"data": DATA, "repeats": [3]}) == [DATA, [3]]


def test_several_outputs_are_a_list_or_a_tuple() -> None:
    """And anything else is one output."""
    inputs = {"data": DATA, "repeats": [1]}

    assert len(executed(framework_of(Tile=lambda data, _: (data, data)), inputs)) == 2
    assert len(executed(framework_of(Tile=lambda data, _: data), inputs)) == 1


def test_an_operation_without_a_row_is_unsupported() -> None:
    """The reason names it."""
    with pytest.raises(Unsupported, match="the graph has a Flip-1 node"):
        executed(framework_of(Tile=Numbers.tiled), {"data": DATA}, {}, "Flip-1")
    with pytest.raises(Unsupported, match="numbers has no row for Flip-1"):
        framework_of(Tile=Numbers.tiled).row("Flip-1")


def test_constraints_and_what_adapters_and_rows_fulfil_is_mapped() -> None:
    """A row without constraints of its own maps those of the whole declaration."""
    flip = Row(Numbers.flipped, Adapter(None, ("along.negative",), ("along", "mode.required")), mapped=("data.any",))
    implementation = framework_of(Tile=Numbers.tiled, Flip=flip).implementation("CPU")

    assert implementation.operations == ("Tile-1", "Flip-1", "Constant-1", "ShapeOf-3")
    assert set(resolved(implementation, (TILE, FLIP)).mapped) == {
        *(f"Tile-1:{name}" for name in ("data.required", "data.rank")),
        *(f"Tile-1:repeats.{name}" for name in ("required", "rank", "element-type")),
        *(f"Flip-1:{name}" for name in ("along.negative", "mode.required", "data.any")),
    }


def test_settings_are_computed_with_pythons_own_numbers() -> None:
    """Constants, and lists that are joined, whatever the framework does with tensors."""
    framework = framework_of(Concat=lambda *_: pytest.fail("called"))
    value: dict[str, Attribute] = {"value": (4, 5), "shape": (2,), "element_type": "i64"}

    assert executed(framework, {}, value, "Constant-1") == [[4, 5]]
    assert executed(framework, {}, {**value, "value": (4,), "shape": ()}, "Constant-1") == [4]
    assert executed(framework, {"0": [1], "1": [2, 3]}, {"axis": 0}, "Concat-1") == [[1, 2, 3]]
    assert executed(framework, {"data": DATA}, {}, "ShapeOf-3") == [[2]]


class Unknown:
    """The shape of a tensor of unknown rank, as TensorFlow has it."""

    def __iter__(self) -> Iterator[int]:
        raise ValueError("Cannot iterate over a shape with unknown rank.")


@pytest.mark.parametrize("shape", [(2, None), Unknown()])
def test_a_shape_that_is_not_known_yet_is_not_a_setting(shape: object) -> None:
    """Python's own numbers are needed when the graph is built."""
    with pytest.raises(Unsupported, match="is a setting"):
        COMPUTING["ShapeOf-3"]([SimpleNamespace(shape=shape)], {})
