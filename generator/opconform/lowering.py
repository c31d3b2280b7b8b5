"""Lowering: the axis and the lengths of a split worked out, for dialects that have no notion of -1 or of a count."""

from dataclasses import dataclass

from opconform.drafts import arguments_of
from opconform.golden import Golden
from opconform.graphs import Graph

#: The operations that the dialects beside OpenVINO's own have a rendering for.
SPLITS = frozenset({"Split-1", "VariadicSplit-1"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """Where a split of an accepted case cuts the data of its first feed.

    Attributes:
        axis: The axis, counted from the front.
        lengths: The length of each piece along it.
    """

    axis: int
    lengths: tuple[int, ...]


def cuts_of(golden: Golden, graph: Graph) -> dict[int, Cut]:
    """The cut of each split in a graph, by the split's number; none for a rejected case.

    The second split, of the context `chain`, cuts the last piece of the first.
    """
    if golden.pieces is None or golden.outputs is None:
        return {}
    axis = golden.draft.operation.axis(arguments_of(golden.draft, 0)) or 0
    pieces = golden.pieces[0]
    cut = (pieces, golden.outputs[0][len(pieces) - 1 :])
    splits = [number for number, node in enumerate(graph.nodes) if node.kind == "operation"]
    return {
        number: Cut(axis=axis, lengths=tuple(each.shape[axis] for each in parts))
        for number, parts in zip(splits, cut, strict=False)
    }
