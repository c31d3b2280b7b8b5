"""The stream of drawn graphs: chains and diamonds of three to eight nodes, and how a backend is given them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from opconform.model.draft import Draft, TensorDraft
from opconform.operations import OPERATIONS
from opconform.operations.operation import Operation
from opconform.suite.case import Binding, Dynamic
from opconform_runners.tools.fuzz.cases.values import likely
from opconform_runners.tools.fuzz.graphs.experience import Experience, Lessons, Recipe
from opconform_runners.tools.fuzz.graphs.nodes import SIZES, Growth
from opconform_runners.tools.fuzz.graphs.structure import decided_graph, graph_draft, nodes_of
from opconform_runners.tools.fuzz.trial import Trial, resized

#: The fewest and the most nodes of a drawn graph.
NODES = (3, 8)
#: How many operations are tried for a node, and how many graphs until no new one is expected.
_TRIES, _PATIENCE = 60, 500


class GraphDraws:
    """The trials of graphs of some operations, each drawn once; all of them are valid."""

    def __init__(self, operations: Sequence[str], seed: int) -> None:
        self._random = Random(f"graphs {seed}")  # noqa: S311 - not for secrets
        self._weights = {name: _weight(OPERATIONS[name]) for name in operations}
        self._drawn: set[str] = set()
        self._experience = Experience()
        self._recipes: dict[str, Sequence[Recipe]] = {}

    def __iter__(self) -> Iterator[Trial]:
        """New trials, until none is drawn for long."""
        in_vain = 0
        while any(self._weights.values()) and in_vain < _PATIENCE:
            in_vain += 1
            growth = Growth(random=self._random, experience=self._experience)
            draft = self._draft(growth)
            if draft is None or draft.digits in self._drawn:
                continue
            self._drawn.add(draft.digits)
            self._recipes[draft.digits] = growth.recipes
            in_vain = 0
            yield Trial(draft=draft)

    def learn(self, lessons: Lessons) -> None:
        """Draw fewer graphs of what a backend does not support, or fails alone."""
        for digits, lesson in lessons.items():
            self._experience.learn(self._recipes.pop(digits, ()), lesson)

    def _draft(self, growth: Growth) -> Draft | None:
        random = self._random
        for _ in range(random.randint(*NODES)):
            tried = random.choices([*self._weights], [*self._weights.values()], k=_TRIES)
            if not any(map(growth.grow, tried)):
                break
        if len(growth.nodes) < NODES[0]:
            return None
        draft = decided_graph(graph_draft(growth.tensors, growth.binding, growth.nodes, self._outputs(growth)))
        if draft is None or len(nodes_of(draft)) < NODES[0]:
            return None
        return self._delivered(draft)

    def _outputs(self, growth: Growth) -> list[str]:
        """The results that the model returns: those that no node takes, most of them, and some that a node takes."""
        unused = growth.unused
        outputs = [name for name in unused if likely(self._random, 0.9)] or unused[:1]
        if likely(self._random, 0.4):
            outputs.append(self._random.choice([name for node in growth.nodes for name in node.outputs]))
        return outputs

    def _delivered(self, draft: Draft) -> Draft | None:
        """The graph with another way in which a backend is given it: bindings, declared dimensions, a second feed."""
        for change, probability in ((self._bound, 0.15), (self._opened, 0.4), (self._fed_again, 0.2)):
            if likely(self._random, probability):
                draft = decided_graph(change(draft)) or draft
        return draft

    def _bound(self, draft: Draft) -> Draft:
        """An input becomes a constant of the model, or a setting input is fed at run time."""
        name = self._random.choice([*draft.tensors])
        binding: Binding = "constant" if draft.binding[name] == "parameter" else "parameter"
        return replace(draft, binding={**draft.binding, name: binding})

    def _opened(self, draft: Draft) -> Draft:
        """The model does not declare the ranks, the dimensions, the first dimensions, or one dimension of inputs."""
        random, fed = self._random, [name for name, x in draft.binding.items() if x == "parameter"]
        way = random.choice(("...", "all", "all", "batch", "one"))
        dynamic: dict[str, Dynamic] = {}
        for name in fed if way != "one" else random.sample(fed, min(1, len(fed))):
            shape = draft.tensors[name].shape
            if way == "...":
                dynamic[name] = "..."
            elif way == "all":
                dynamic[name] = ("?",) * len(shape)
            elif shape:
                place = 0 if way == "batch" else random.randrange(len(shape))
                dynamic[name] = (*shape[:place], "?", *shape[place + 1 :])
        return replace(draft, dynamic=dynamic)

    def _fed_again(self, draft: Draft) -> Draft:
        """A second inference with other elements, and other sizes where the model does not declare them."""
        random, sizes = self._random, dict[int, int]()
        second: dict[str, TensorDraft] = {}
        for name in (name for name, x in draft.binding.items() if x == "parameter"):
            tensor, dynamic = draft.tensors[name], draft.dynamic.get(name, draft.tensors[name].shape)
            declared = ("?",) * len(tensor.shape) if dynamic == "..." else dynamic
            shape = [
                sizes.setdefault(size, random.choice((size, *SIZES))) if x == "?" else size
                for size, x in zip(tensor.shape, declared, strict=True)
            ]
            again = resized(tensor, shape, random)
            second[name] = again if again.fill == "values" else replace(again, fill="small", elements=())
        return replace(draft, second=second)


def _weight(operation: Operation) -> int:
    """How often an operation is tried: often if it joins tensors, and more often if it computes."""
    if not operation.inputs:
        return 0
    joins = operation.inputs[-1].variadic or len(operation.data) > 1
    return (2 if joins else 1) * (1 if operation.moves_data else 2)
