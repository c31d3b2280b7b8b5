"""The recorder of a framework's calls, on a framework of a few functions."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from opconform.errors import UsageError
from opconform_products.frameworks.recorder import Recorded, Recorder, recorded_graph
from opconform_runners.backends.backend import Unsupported
from opconform_runners.tools.repro.graph_source import GraphSource


class Vector:
    """A tensor of one dimension."""

    def __init__(self, *numbers: int) -> None:
        self.numbers, self.shape, self.dtype = numbers, (len(numbers),), np.dtype("i4")

    def __add__(self, other: Any) -> "Vector":
        return Vector(*(number + other for number in self.numbers))

    def __getitem__(self, index: slice) -> "Vector":
        return Vector(*self.numbers[index])


def split(data: Vector, parts: int, *, axis: int = 0) -> tuple[Vector, ...]:
    """The parts of a vector."""
    if len(data.numbers) % parts:
        raise ValueError(f"{parts} parts, along {axis}")
    size = len(data.numbers) // parts
    return tuple(Vector(*data.numbers[start : start + size]) for start in range(0, len(data.numbers), size))


FRAMEWORK = SimpleNamespace(split=split, size=lambda data: len(data.numbers), cast=lambda data, kind: (data, kind)[0])


def recorded(body: Callable[[Any, Any], list[Any]]) -> GraphSource:
    """The graph of a function of the framework and of the vector 1, 2, 3, 4."""
    recorder = Recorder(
        tensors=(Vector,),
        plain=(),
        errors=(ValueError,),
        type_source=lambda value: f"f.{value.name}" if isinstance(value, np.dtype) else None,
        taken={"data"},
    )
    outputs: list[Any] = []
    framework, data = recorder.held(FRAMEWORK, "f"), Recorded(recorder, "data", Vector(1, 2, 3, 4))
    return recorded_graph(recorder, "a case", "f", lambda: outputs.extend(body(framework, data)), outputs)


def test_a_call_that_gives_tensors_is_a_line() -> None:
    """With a variable of its own; each of several results is an element of it, and numbers stay numbers."""

    def body(f: Any, data: Any) -> list[Any]:
        first, second = f.split(data, f.size(data) // 2, axis=data.shape[0] - 4)
        return [first, f.split(f.cast(second, data.dtype), 1)[0], [1, 2.5]]

    assert recorded(body) == GraphSource(
        (
            ("split", "f.split(data, 2, axis=0)"),
            ("cast", "f.cast(split[1], f.int32)"),
            ("split_", "f.split(cast, 1)"),
        ),
        ("split[0]", "split_[0]", "[1, 2.5]"),
    )


def test_an_operator_and_an_index_are_calls_too() -> None:
    """As Python writes them."""
    graph = recorded(lambda _, data: [data[1:3] + 1])

    assert graph == GraphSource((("item", "data[1:3]"), ("add", "item + 1")), ("add",))


def test_a_refused_call_is_the_last_line() -> None:
    """The script of a case that the framework refuses ends with the call that it refuses."""
    graph = recorded(lambda f, data: f.split(f.cast(data, data.dtype), 3))

    assert graph == GraphSource((("cast", "f.cast(data, f.int32)"), ("split", "f.split(cast, 3)")), ("split",))


def test_what_the_backend_itself_refuses_has_no_script() -> None:
    """And neither has a call that takes a function of the backend's own."""

    def unsupported(_: Any, __: Any) -> list[Any]:
        raise Unsupported("no such mode")

    for body, why in [
        (unsupported, "no such mode"),
        (lambda f, data: [f.cast(data, len)], "the backend calls the framework with a function of its own"),
    ]:
        with pytest.raises(UsageError, match=f"^a case cannot be written for f: {why}.$"):
            recorded(body)
