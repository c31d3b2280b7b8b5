"""A framework's calls as lines of a script, recorded while a backend's rows trace a graph with the framework itself."""

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, cast

import numpy as np

from opconform.errors import UsageError
from opconform_runners.backends.backend import Rejected, Unsupported
from opconform_runners.tools.repro.graph_source import GraphSource
from opconform_runners.tools.repro.names import free_name
from opconform_runners.tools.repro.variables import array_source

#: What stays Python's own when it is read from a framework or returned by it.
_PLAIN: tuple[type, ...] = (
    bool,
    int,
    float,
    str,
    bytes,
    type(None),
    tuple,
    list,
    dict,
    np.dtype,
    np.generic,
    np.ndarray,
)


class RefusedCallError(Exception):
    """The framework refuses the last recorded call."""


class Recorder:
    """The calls of a framework that give tensors.

    Attributes:
        steps: The variable and the source of each call.
        errors: The exceptions by which the framework refuses a call.

    `tensors` are the framework's types of tensors, `plain` those of other values that rows use as they are, such as
    shapes, and `taken` the names that no variable may have. `type_source` writes an element type, and returns None for
    other values.
    """

    def __init__(
        self,
        tensors: tuple[type, ...],
        plain: tuple[type, ...],
        errors: tuple[type[Exception], ...],
        type_source: Callable[[Any], str | None],
        taken: set[str],
    ) -> None:
        self.steps: list[tuple[str, str]] = []
        self._tensors, self.errors = tensors, errors
        self._plain: tuple[type, ...] = (*_PLAIN, *plain)
        self._type_source, self._taken = type_source, taken

    def held(self, value: Any, text: str) -> Any:
        """A tensor, a function or a module that records what is done with it; other values as they are."""
        return value if isinstance(value, self._plain) else Recorded(self, text, value)

    def step(self, name: str, text: str, function: Callable[[], Any]) -> Any:
        """What a call returns; it is a step if it returns a tensor or several, or is refused."""
        try:
            value = function()
        except self.errors as error:
            self.steps.append((free_name(name, self._taken), text))
            raise RefusedCallError from error
        if isinstance(value, self._tensors):
            self.steps.append((free_name(name, self._taken), text))
            return Recorded(self, self.steps[-1][0], value)
        if isinstance(value, tuple | list) and any(isinstance(x, self._tensors) for x in value):
            self.steps.append((free_name(name, self._taken), text))
            variable = self.steps[-1][0]
            return [self.held(x, f"{variable}[{number}]") for number, x in enumerate(value)]
        return self.held(value, text)

    def named(self, variable: str, text: str, function: Callable[[], Any]) -> Any:
        """What a call returns, as a step whose variable has a name of its own."""
        self.steps.append((variable, text))
        try:
            return self.held(function(), variable)
        except self.errors as error:
            raise RefusedCallError from error

    def source(self, value: Any) -> str:
        """A value as Python source. It raises `Unsupported` for a function of the backend's own."""
        match value:
            case Recorded():
                return repr(value)
            case list():
                return f"[{', '.join(map(self.source, value))}]"
            case tuple():
                return f"({', '.join(map(self.source, value))}{',' if len(value) == 1 else ''})"
            case slice():
                parts = ["" if x is None else self.source(x) for x in (value.start, value.stop, value.step)]
                return ":".join(parts[: 3 if parts[2] else 2])
            case float():
                return repr(value) if np.isfinite(value) else f'float("{value}")'
            case np.ndarray() | np.generic():
                return self._array(np.asarray(value))
            case None | bool() | int() | str() | bytes():
                return repr(value)
        if value is ...:
            return "..."
        source = self._type_source(value)
        if source is None:
            raise Unsupported("the backend calls the framework with a function of its own")
        return source

    def _array(self, array: Any) -> str:
        if array.dtype.isbuiltin == 1 or array.dtype.kind == "U":
            return array_source(array)
        bits = array_source(array.view(f"u{array.itemsize}"))
        return f"{bits}.view({self._type_source(array.dtype)})"


def _binary(sign: str, function: Callable[[Any, Any], Any], *, is_reflected: bool = False) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        sides = (other, self) if is_reflected else (self, other)
        left, right = map(self._recorder.source, sides)
        return self._recorder.step(
            function.__name__.strip("_"), f"{left} {sign} {right}", lambda: function(*map(_values, sides))
        )

    return method


class Recorded:
    """A tensor, a function or a module of a framework, and its source."""

    def __init__(self, recorder: Recorder, text: str, value: Any) -> None:
        self._recorder, self._text, self.value = recorder, text, value

    __add__ = _binary("+", operator.add)
    __radd__ = _binary("+", operator.add, is_reflected=True)
    __sub__ = _binary("-", operator.sub)
    __rsub__ = _binary("-", operator.sub, is_reflected=True)
    __mul__ = _binary("*", operator.mul)
    __rmul__ = _binary("*", operator.mul, is_reflected=True)
    __floordiv__ = _binary("//", operator.floordiv)
    __rfloordiv__ = _binary("//", operator.floordiv, is_reflected=True)
    __mod__ = _binary("%", operator.mod)
    __rmod__ = _binary("%", operator.mod, is_reflected=True)
    __lt__ = _binary("<", operator.lt)
    __le__ = _binary("<=", operator.le)
    __gt__ = _binary(">", operator.gt)
    __ge__ = _binary(">=", operator.ge)
    __eq__ = _binary("==", operator.eq)
    __ne__ = _binary("!=", operator.ne)

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Any:
        text = f"{self._text}.{name}"
        return self._recorder.held(getattr(self.value, name), "jnp" if text == "jax.numpy" else text)

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: D102 - a call is a call
        source = self._recorder.source
        shown = [*map(source, arguments), *(f"{name}={source(x)}" for name, x in named.items())]
        text = f"{self._text}({', '.join(shown)})"
        plain = _values([*arguments]), _values(named)
        return self._recorder.step(self._text.rpartition(".")[2], text, lambda: self.value(*plain[0], **plain[1]))

    def __getitem__(self, index: Any) -> Any:
        shown = index if isinstance(index, tuple) and index else (index,)
        text = f"{self._text}[{', '.join(map(self._recorder.source, shown))}]"
        return self._recorder.step("item", text, lambda: self.value[_values(index)])

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self.value)))

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(_values(instance), self.value)

    def __hash__(self) -> int:
        return hash(self._text)

    def __neg__(self) -> Any:
        return self._recorder.step("negative", f"-{self._text}", lambda: -self.value)


def _values(recorded: Any) -> Any:
    """What the framework itself takes for recorded values, also in lists."""
    match recorded:
        case Recorded():
            return recorded.value
        case list():
            return [*map(_values, recorded)]
        case tuple():
            return tuple(map(_values, recorded))
        case dict():
            return {name: _values(x) for name, x in recorded.items()}
        case slice():
            return slice(*map(_values, (recorded.start, recorded.stop, recorded.step)))
    return recorded


def recorded_module(name: str, stand_ins: Mapping[str, object]) -> ModuleType:
    """A second copy of a module in which some imported modules are others, such as one that records what is called."""
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name)

    def imported(wanted: str, *arguments: Any, **named: Any) -> Any:
        found = stand_ins.get(wanted) or stand_ins.get(wanted.partition(".")[0])
        return found or builtins.__import__(wanted, *arguments, **named)

    module = module_from_spec(spec)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": imported}
    exec(cast("Any", spec.loader).get_code(name), module.__dict__)  # noqa: S102 - a module of ours
    return module


def recorded_graph(
    recorder: Recorder, case: str, backend: str, trace: Callable[[], object], outputs: list[Any]
) -> GraphSource:
    """The graph that `trace` records, with what it puts in `outputs`; of a refused graph, the calls up to the refusal.

    Raises `UsageError` if the backend does not call the framework for the case.
    """
    try:
        trace()
    except RefusedCallError:
        return GraphSource(tuple(recorder.steps), (recorder.steps[-1][0],))
    except (Rejected, Unsupported) as answer:
        why = answer.message if isinstance(answer, Rejected) else answer
        raise UsageError(f"{case} cannot be written for {backend}: {why}.") from answer
    except recorder.errors as answer:  # as the backend reads it, although the framework was not called
        raise UsageError(
            f"{case} cannot be written for {backend}: the backend refuses it itself, {answer}."
        ) from answer
    return GraphSource(tuple(recorder.steps), tuple(map(recorder.source, outputs)))
