"""Drawn cases as groups of a spec."""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from opconform.model.draft import Draft, TensorDraft
from opconform.operations import OPERATIONS
from opconform.operations.operation import Operation
from opconform.suite.case import Attribute
from opconform.tensors.literals import Element
from opconform_runners.tools.fuzz.graphs.spec_keys import graph_keys
from opconform_runners.tools.fuzz.trial import Trial, default_binding

_WIDTH = 118


def spec_text(op: str, groups: Iterable[Mapping[str, Any]]) -> str:
    """The text of a spec with some groups."""
    return f"op: {op}\ngroups:\n{groups_text(groups)}"


def groups_text(groups: Iterable[Mapping[str, Any]]) -> str:
    """The text of groups, as items of a list."""
    texts = [yaml.safe_dump([dict(group)], sort_keys=False, default_flow_style=None, width=_WIDTH) for group in groups]
    return "".join(texts)


def group_of(trial: Trial, title: str) -> dict[str, Any]:
    """The group of a spec that expands to a trial."""
    draft, twin = trial.draft, trial.twin
    group = {
        "id": f"{draft.group}-{draft.digits}",
        "title": title,
        "profile": draft.profile,
        "requirements": [*draft.requirements],
        **_keys(draft),
    }
    if draft.rejected_for is not None:
        group["expect"] = {"reject": draft.rejected_for}
    if twin is not None:
        case, valid = _keys(draft), _keys(twin)
        if case.get("binding") != valid.get("binding"):  # a mapping overrides name by name
            valid["binding"] = dict(twin.binding)
        group["twin"] = {key: valid.get(key) for key in {**case, **valid} if case.get(key) != valid.get(key)}
    return group


def _keys(draft: Draft) -> dict[str, Any]:
    """The keys of a case; what has its default value is left out."""
    if draft.graph is not None:
        return graph_keys(draft, draft.graph, _tensor)
    keys: dict[str, Any] = {}
    keys |= _arguments(draft.operation, draft.tensors, draft.attributes)
    usual = default_binding(draft.operation, draft.tensors)
    binding = {name: x for name, x in draft.binding.items() if x != usual[name]}
    if binding and draft.context != "folded":
        keys["binding"] = binding
    if draft.dynamic:
        keys["dynamic"] = {name: x if x == "..." else [*x] for name, x in draft.dynamic.items()}
    if draft.then is not None:
        neighbour = OPERATIONS[draft.then.op]
        keys["then"] = {"op": neighbour.name, **_arguments(neighbour, draft.then.settings, draft.then.attributes)}
    elif draft.context != "bare":
        keys["context"] = draft.context
    if draft.second is not None:
        keys["feed"] = _arguments(draft.operation, draft.second, {})
    return keys


def _arguments(
    operation: Operation, tensors: Mapping[str, TensorDraft], attributes: Mapping[str, Attribute]
) -> dict[str, Any]:
    """The keys of tensors and attributes; the tensors of a variadic port are a list."""
    keys: dict[str, Any] = {}
    for port in operation.inputs:
        of_port = [_tensor(tensor) for name, tensor in tensors.items() if operation.port_of(name) is port]
        if of_port:
            keys[port.name] = of_port if port.variadic else of_port[0]
    return keys | {
        name: [*attribute] if isinstance(attribute, tuple) else attribute for name, attribute in attributes.items()
    }


def _tensor(tensor: TensorDraft) -> dict[str, Any]:
    """The keys of a tensor; a nested list without elements does not have all dimensions."""
    keys: dict[str, Any] = {"element_type": tensor.element_type}
    if tensor.fill != "values":
        return keys | {"shape": [*tensor.shape], "fill": tensor.fill}
    if 0 in tensor.shape:
        return keys | {"shape": [*tensor.shape], "values": []}
    return keys | {"values": _nested([*tensor.elements], tensor.shape)}


def _nested(elements: list[Element], shape: tuple[int, ...]) -> Any:
    if not shape:
        return elements[0]
    size = len(elements) // shape[0]
    return [_nested(elements[size * index : size * (index + 1)], shape[1:]) for index in range(shape[0])]
