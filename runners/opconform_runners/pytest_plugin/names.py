"""Readable names of cases: the group, and what distinguishes the case, as in `Split-1/contexts[f32-axis0-relu]`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from opconform.suite.case import Case, Input
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.verdicts.description import has_shown_values

#: The most elements of an input in a name.
_MOST = 8
_UNSAFE = re.compile(r"[^\w.,+-]+")


def names_of(suite: Suite, entries: Sequence[Entry]) -> dict[str, str]:
    """The names of all cases of some groups, by id.

    A name says the element types, settings and context. Shapes follow where cases of the group would have the same
    name, and the digits of the id where they still would. A name does not change when other cases are selected.
    """
    facts = {entry.id: _facts(suite, entry) for entry in entries}
    short = {key: _name(key, parts) for key, (parts, _) in facts.items()}
    long = {key: _name(key, [*parts, *shapes]) for key, (parts, shapes) in facts.items()}
    names: dict[str, str] = {}
    for level in (short, long):
        counts = Counter(level.values())
        names |= {key: name for key, name in level.items() if key not in names and counts[name] == 1}
    return {key: names.get(key) or _name(key, [*parts, key.rpartition("/")[2]]) for key, (parts, _) in facts.items()}


def case_pattern(suite: Suite, name: str) -> str:
    """The pattern that a name of a case stands for, which is its id; any other pattern as it is."""
    group = name.partition("[")[0]
    entries = [entry for entry in suite.entries if entry.id.rpartition("/")[0] == group] if name.endswith("]") else []
    return next((identity for identity, n in names_of(suite, entries).items() if n == name), name)


def _name(identity: str, facts: Sequence[str]) -> str:
    return f"{identity.rpartition('/')[0]}[{'-'.join(facts) or 'no-inputs'}]"


def _facts(suite: Suite, entry: Entry) -> tuple[list[str], list[str]]:
    """What a case is like in short words, and its shapes."""
    case = suite.case(entry)
    arrays = suite.arrays(entry, inputs_name(0))
    words = [_UNSAFE.sub("_", word).strip("_") for word in _words(case, arrays)]
    shapes = ["x".join(map(str, arrays[input_.name].shape)) or "scalar" for input_ in case.inputs]
    return list(dict.fromkeys(words)), shapes


def _words(case: Case, arrays: Mapping[str, Array]) -> Iterator[str]:
    first = _port(case.inputs[0]) if case.inputs else ""
    for number, item in enumerate(case.inputs):
        if has_shown_values(case, item) and not (number and _port(item) == first):  # further inputs of a variadic port
            kind = "" if item.element_type == "i64" else f"{item.element_type}-"
            yield f"{kind}{item.name}{_values(item, arrays[item.name])}"
        else:
            yield item.element_type
    for name, value in case.attributes.items():
        yield (
            (value or f"{name}-empty")
            if isinstance(value, str)
            else f"{name}{_joined(value) if isinstance(value, tuple) else value}"
        )
    if any(input_.binding == "parameter" for input_ in case.inputs if input_.role == "setting"):
        yield "parameter"
    if any(input_.binding == "constant" for input_ in case.inputs if input_.role != "setting"):
        yield "constant"
    if any(input_.dynamic is not None for input_ in case.inputs):
        yield "dynamic"
    if case.context != "bare":
        yield case.context
    if case.feeds > 1:
        yield f"{case.feeds}feeds"


def _port(port: Input) -> str:
    return port.name.rstrip("0123456789")


def _values(port: Input, array: Array) -> str:
    tensor = Tensor(element_type=port.element_type, array=array.reshape(-1)[:_MOST])
    values: Sequence[object] = tensor.integers() if tensor.type.is_integer else list(tensor.array)
    return f"{'_' * port.name[-1].isdigit()}{_joined(values)}{',..' * (array.size > _MOST)}"


def _joined(values: Sequence[object]) -> str:
    return ",".join(map(str, values))
