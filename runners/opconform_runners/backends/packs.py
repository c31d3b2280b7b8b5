"""The cases of a pack, for backends without a dialect, which get a pack as one case."""

import re
from collections.abc import Iterable
from dataclasses import replace

from opconform.suite.case import Graph, Node
from opconform.suite.declarations import DeclaredCase

#: The name of an input, a node or a tensor in a pack: the number of its case, and the name there.
_NAME = re.compile(r"c(\d+)_(.+)")


def cases_of_pack(case: DeclaredCase) -> dict[str, DeclaredCase]:
    """The cases of a pack, in order, by the prefix of their names in it; a case alone has the prefix ""."""
    if case.context != "pack":
        return {"": case}
    prefixes = dict.fromkeys(_prefix(node.name) for node in case.graph.nodes)
    return {prefix: _member(case, prefix) for prefix in sorted(prefixes, key=lambda prefix: int(prefix[1:-1]))}


def _member(case: DeclaredCase, prefix: str) -> DeclaredCase:
    return replace(
        case,
        context="bare",
        inputs=tuple(replace(x, name=_plain(x.name)) for x in case.inputs if _prefix(x.name) == prefix),
        graph=Graph(
            nodes=tuple(_renamed(node) for node in case.graph.nodes if _prefix(node.name) == prefix),
            outputs=_plains(name for name in case.graph.outputs if _prefix(name) == prefix),
        ),
    )


def _renamed(node: Node) -> Node:
    return replace(
        node,
        name=_plain(node.name),
        inputs=tuple(None if name is None else _plain(name) for name in node.inputs),
        outputs=_plains(node.outputs),
    )


def _plains(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_plain, names))


def _prefix(name: str) -> str:
    match = _NAME.fullmatch(name)
    return f"c{match[1]}_" if match else ""


def _plain(name: str) -> str:
    return name.removeprefix(_prefix(name))
