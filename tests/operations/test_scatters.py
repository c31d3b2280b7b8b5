"""The operations that write updates into data: each clause of their pages, and implementations of others."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.scatters.scatter_elements import SCATTER_ELEMENTS_UPDATE_12
from opconform.operations.movement.scatters.scatter_nd import SCATTER_ND_UPDATE_15
from opconform.operations.movement.scatters.scatter_update import SCATTER_UPDATE
from opconform.operations.operation import Operation
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.tensors.tensor import Array, Tensor


def operand(values: object, element_type: str = "i32") -> Operand:
    """An operand of integers, of which those of i64 are a setting."""
    array = np.array(values, {"i32": "i4", "i64": "i8"}[element_type])
    integers = tuple(array.ravel().tolist()) if element_type == "i64" else None
    return Operand(
        element_type=element_type,
        shape=array.shape,
        integers=integers,
        tensor=Tensor(element_type=element_type, array=array),
    )


def output_of(operation: Operation, **inputs: object) -> object:
    """The only output, for data and updates of i32, and for settings of i64."""
    settings = {port.name for port in operation.inputs if port.setting}
    operands = {name: operand(values, "i64" if name in settings else "i32") for name, values in inputs.items()}
    [output] = operation.evaluate(operation.arguments(operands, {}))
    return output.array.tolist()


def accepted(op: str) -> Iterator[Draft]:
    """The valid cases of the profile `core` with the operation alone."""
    for spec in load_specs([cases_of(op)]):
        for group in spec.groups:
            if group.settings.profile == "core":
                drafts = expand(group)
                yield from (draft for draft in drafts if draft.rejected_for is None and not draft.has_other_nodes)


def assigned(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> Array:
    """An assignment of numpy's at an array of indices behind whole slices."""
    data, indices, updates = (inputs[name] for name in ("data", "indices", "updates"))
    kind = np.result_type(data, updates)
    output = data.astype(kind)
    axis = int(inputs["axis"].ravel()[0]) % data.ndim
    whole: list[Any] = [slice(None)] * axis
    output[(*whole, indices.astype(int))] = updates
    return output


def combined(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Array:
    """One column after the other, by reductions of numpy's."""
    data, indices, updates = (inputs[name] for name in ("data", "indices", "updates"))
    axis, name = int(inputs["axis"].ravel()[0]) % data.ndim, attributes.get("reduction", "none")
    output = np.array(data, np.result_type(data, updates))
    functions = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
    for column in np.ndindex(*indices.shape[:axis], *indices.shape[axis + 1 :]):
        at = (*column[:axis], slice(None), *column[axis:])
        whole, rows, new = output[at], indices[at].astype(int), updates[at]
        if name == "none":
            whole[rows] = new
            continue
        for row in {*(rows % len(whole))}:
            mine = [*([whole[row]] if attributes.get("use_init_val", True) else []), *new[rows % len(whole) == row]]
            if name == "mean":
                is_integer = data.dtype.kind in "iu"
                total = sum(map(int, mine)) if is_integer else np.sum(mine, dtype=data.dtype)
                whole[row] = total // len(mine) if is_integer else total / len(mine)
            else:
                whole[row] = functions[name].reduce(np.array(mine, data.dtype))
    return output


def at_tuples(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Array:
    """The snippet of the page of ScatterNDUpdate-15, without its mistakes."""
    data, indices, updates = (inputs[name] for name in ("data", "indices", "updates"))
    output = np.array(data, np.result_type(data, updates))
    functions: dict[str, Any] = {
        "sum": np.add,
        "sub": np.subtract,
        "prod": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
    }
    if data.dtype.kind == "b":
        functions |= {"sum": np.logical_or, "sub": np.logical_xor, "prod": np.logical_and}
    slices = updates.reshape(indices.shape[:-1] + data.shape[indices.shape[-1] :])
    for at in np.ndindex(*indices.shape[:-1]):
        place = tuple(int(index) for index in indices[at])
        name = attributes.get("reduction", "none")
        output[place] = slices[at] if name == "none" else functions[name](output[place], slices[at])
    return output


def sliced(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> Array:
    """The snippet of the page of SliceScatter-15."""
    data, updates = inputs["data"], inputs["updates"]
    output = np.array(data, np.result_type(data, updates))
    lists = [inputs[name].tolist() for name in ("start", "stop", "step")]
    axes = inputs["axes"].tolist() if "axes" in inputs else range(len(lists[0]))
    index = [slice(None)] * data.ndim
    for start, stop, step, axis in zip(*lists, axes, strict=True):
        index[axis] = slice(start, stop, step)
    output[tuple(index)] = updates
    return output


OTHERS: Mapping[str, Callable[[Mapping[str, Array], Mapping[str, Any]], Array]] = {
    "ScatterElementsUpdate-3": combined,
    "ScatterElementsUpdate-12": combined,
    "ScatterNDUpdate-3": at_tuples,
    "ScatterNDUpdate-15": at_tuples,
    "ScatterUpdate-3": assigned,
    "SliceScatter-15": sliced,
}


@pytest.mark.parametrize("op", OTHERS)
def test_goldens_agree_with_an_implementation_of_others(op: str) -> None:
    """Bit for bit, in every inference of every valid case."""
    count = 0
    for draft in accepted(op):
        golden = golden_of(draft, 0)
        for feed, (output,) in zip(golden.inputs, golden.outputs, strict=True):
            expected = OTHERS[op]({name: tensor.array for name, tensor in feed.items()}, draft.attributes)
            assert output.array.tobytes() == expected.tobytes(), draft.id
            assert output.shape == expected.shape, draft.id
            count += 1
    assert count > 50


@pytest.mark.parametrize(
    ("attributes", "output"),
    [
        ({"reduction": "sum"}, [52, 13, 104, 76]),
        ({"reduction": "sum", "use_init_val": False}, [50, 10, 100, 70]),
        ({"reduction": "min", "use_init_val": False}, [20, 10, 40, 70]),
        ({"reduction": "mean"}, [17, 6, 34, 38]),
    ],
)
def test_updates_are_combined(attributes: Mapping[str, Any], output: list[int]) -> None:
    """As in the first two examples of the page of ScatterElementsUpdate-12."""
    inputs = {
        "data": operand([2, 3, 4, 6]),
        "indices": operand([1, 0, 0, -2, -1, 2], "i64"),
        "updates": operand([10, 20, 30, 40, 70, 60]),
        "axis": operand(0, "i64"),
    }
    [tensor] = SCATTER_ELEMENTS_UPDATE_12.evaluate(SCATTER_ELEMENTS_UPDATE_12.arguments(inputs, attributes))

    assert tensor.array.tolist() == output


def test_slices_at_indices_are_replaced() -> None:
    """As in the second example of the page of ScatterUpdate-3."""
    data = [[-1, 1, -1, 3, 4], [-1, 6, -1, 8, 9], [-1, 11, 1, 13, 14]]
    output = output_of(SCATTER_UPDATE, data=data, indices=[0, 2], updates=[[1, 1], [1, 1], [1, 2]], axis=[1])

    assert output == [[1, 1, 1, 3, 4], [1, 6, 1, 8, 9], [1, 11, 2, 13, 14]]


@pytest.mark.parametrize(
    ("indices", "updates", "right"),
    [
        ([1, 1], [7, 8], [{0}, {7, 8}]),
        ([1, 0, 1, 1], [7, 8, 9, 6], [{8}, {6, 7, 9}]),
        ([1, 1, 1], [7, 7, 7], [{0}, {7}]),
        ([0], [7], [{7}, {0}]),
    ],
)
def test_any_of_several_updates_of_a_slice_is_right(
    indices: list[int], updates: list[int], right: list[set[int]]
) -> None:
    """The golden has the last one."""
    operands = {"data": operand([0, 0]), "updates": operand(updates), "axis": operand(0, "i64")}
    given = Arguments(inputs={"data": operands["data"], "indices": operand(indices, "i64"), **operands})
    [output] = SCATTER_UPDATE.evaluate(given)

    assert [{*values} for values in zip(*(x.tolist() for x in (output.array, *output.also)), strict=True)] == right


@pytest.mark.parametrize("operation", [SCATTER_ELEMENTS_UPDATE_12, SCATTER_ND_UPDATE_15])
def test_combined_updates_leave_one_result(operation: Operation) -> None:
    """Whatever their order is; without a reduction, each of three is right."""
    element = operation.name.startswith("ScatterElements")
    inputs = {
        "data": operand([5, 6]),
        "indices": operand([1, 1, 1] if element else [[1], [1], [1]], "i64"),
        "updates": operand([7, 8, 9]),
        **({"axis": operand(0, "i64")} if element else {}),
    }
    outputs = {
        reduction: operation.evaluate(operation.arguments(inputs, {"reduction": reduction}))[0]
        for reduction in ("none", "sum")
    }

    assert {x.array.tolist()[1] for x in outputs.values()} == {9, 30}
    assert [[x.tolist() for x in output.also] for output in outputs.values()] == [[[5, 8], [5, 7]], []]
