"""The arguments of an operation as numpy takes them, or the rejection that the specification requires."""

from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected

#: The integer element types.
INTEGER_TYPES = frozenset({"i4", "i8", "i16", "i32", "i64", "u1", "u2", "u3", "u4", "u6", "u8", "u16", "u32", "u64"})


def refused(requirement: str | None, message: str) -> Rejected:
    """The rejection of a case when it is built, for a requirement if one is known."""
    return Rejected("build", message, requirement)


def data_of(given: Tensor | None) -> Array:
    """The elements of the input `data`, which has an axis."""
    if given is None:
        raise refused("data.required", "data is missing")
    if given.array.ndim == 0:
        raise refused("data.rank", "data of rank 0 has no axis")
    return given.array


def integers_of(name: str, given: Tensor | None) -> Tensor:
    """An input of integers; requirements on it have names such as `NAME.element-type`."""
    if given is None:
        raise refused(f"{name}.required", f"{name} is missing")
    if given.element_type not in INTEGER_TYPES:
        raise refused(f"{name}.element-type", f"{name} is of type {given.element_type}")
    return given


def list_of(name: str, given: Tensor | None) -> list[int]:
    """The elements of an input that is a list of integers, with requirements as for `integers_of`."""
    tensor = integers_of(name, given)
    if tensor.array.ndim != 1:
        raise refused(f"{name}.rank", f"{name} has the shape {list(tensor.shape)}")
    return tensor.integers()


def axis_of(given: Tensor | None, data: Array, *, one_element: bool) -> int:
    """The axis that an input names, as it is given; with `one_element`, a list of one element names one too."""
    axis = integers_of("axis", given)
    if axis.array.ndim > 1 or axis.array.size != 1 or (axis.array.ndim == 1 and not one_element):
        raise refused("axis.shape", f"axis has the shape {list(axis.shape)}")
    value = axis.integers()[0]
    if value >= data.ndim or value < -data.ndim:
        raise refused("axis.range", f"axis {value} is out of range for rank {data.ndim}")
    return value
