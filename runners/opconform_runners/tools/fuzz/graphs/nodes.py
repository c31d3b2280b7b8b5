"""The growth of a drawn graph: operations from whose samples a node is made that fits the tensors at hand."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

from opconform.generation.expansion import sample_drafts
from opconform.model.draft import Draft, Fill, TensorDraft
from opconform.model.evaluation import evaluated_arguments
from opconform.model.fills import fill
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, NoGolden, Rejection, TensorType, Unknown
from opconform.operations.operation import Computation, Operation
from opconform.suite.case import Attribute, Binding, Node, Shape
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.tools.fuzz.cases.changes import retyped
from opconform_runners.tools.fuzz.cases.values import likely
from opconform_runners.tools.fuzz.graphs.exactness import has_few_digits, is_read_alike
from opconform_runners.tools.fuzz.graphs.experience import Experience, Recipe
from opconform_runners.tools.fuzz.trial import WORK, is_expressible, is_small, resized

#: The element types of graphs, the usual one more often.
TYPES = ("f32", "f32", "f32", "f16", "bf16", "f64", "i32", "i64", "u8", "boolean")
#: The sizes of dimensions of graphs: nothing, one, and primes among them.
SIZES = (0, 1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 13, 16, 17)
#: The fills of inputs: those whose sums and products are exact are drawn most often.
_FILLS: Sequence[Fill] = ("exact",) * 12 + ("small",) * 4 + ("ramp",) * 2
#: How often a node whose results are rounded is kept: operations behind it can only move them.
_ROUNDED = 0.25
#: The most elements of a tensor of a graph.
_ELEMENTS = 600


class _MisfitError(Exception):
    """A sample does not fit the tensors at hand."""


@dataclass(slots=True)
class Growth:
    """A graph that grows node by node.

    Attributes:
        experience: What is known of the operations so far.
        recipes: What each node is made of.
        tensors: The inputs and constants so far.
        values: What every tensor is, of fills that depend on the case as an example.
    """

    random: Random
    experience: Experience
    recipes: list[Recipe] = field(default_factory=list)
    tensors: dict[str, TensorDraft] = field(default_factory=dict)
    binding: dict[str, Binding] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    values: dict[str, Tensor] = field(default_factory=dict)

    @property
    def unused(self) -> list[str]:
        """The results that no node takes."""
        used = {name for node in self.nodes for name in node.inputs}
        return [name for node in self.nodes for name in node.outputs if name not in used]

    def grow(self, op: str) -> bool:
        """Add a node of an operation, if one fits; its results are exact, or sometimes rounded at the end."""
        operation, source = OPERATIONS[op], self._source()
        wanted = None if source is None else self.values[source]
        alike = [n for n, x in enumerate(_samples(op)) if wanted is None or _has_rank(x, len(wanted.shape))]
        if not alike or (op in self.experience.rounding and not likely(self.random, _ROUNDED)):
            return False
        number = self.random.choice(alike)
        try:
            plan = _Plan(self, operation, _samples(op)[number], source)
        except _MisfitError:
            return False
        recipe = Recipe(op=op, sample=number, element_type=plan.element_type)
        if not likely(self.random, self.experience.trust(recipe)) or not self._add(plan):
            return False
        self.recipes.append(recipe)
        return True

    def _source(self) -> str | None:
        """The tensor that the next node takes first: mostly the latest result; None at first."""
        if not self.nodes:
            return None
        if likely(self.random, 0.6):
            return self.random.choice(self.nodes[-1].outputs)
        return self.random.choice([*(name for node in self.nodes for name in node.outputs), *self._inputs()])

    def _inputs(self) -> list[str]:
        """The inputs that are fed at run time."""
        return [name for name, binding in self.binding.items() if binding == "parameter"]

    def _add(self, plan: "_Plan") -> bool:
        values = self.values | plan.values
        name, operation = f"node{len(self.nodes)}", plan.operation
        node = Node(
            name=name, op=operation.name, inputs=plan.inputs, outputs=(), attributes=plan.attributes, under_test=True
        )
        try:
            arguments = evaluated_arguments(node, values)
            outputs = _outputs(operation, arguments)
        except (MemoryError, NoGolden, OverflowError, Rejection, Unknown):
            return False
        if outputs is None or any(tensor.element_type not in TYPES for tensor in outputs):
            return False
        if operation.is_numeric and not all(map(has_few_digits, (*plan.values.values(), *outputs))):
            return False
        if any(tensor.bounds is not None for tensor in outputs):
            self.experience.rounding.add(operation.name)
        elif not is_read_alike(operation, arguments, outputs):
            return False
        made = tuple(f"{name}_{number}" for number in range(len(outputs)))
        self.nodes.append(replace(node, outputs=made))
        self.values = values | dict(zip(made, outputs, strict=True))
        self.tensors |= plan.tensors
        self.binding |= plan.binding
        return True

    def partner(self, element_type: str, shape: Shape) -> str | None:
        """A tensor at hand that an operation can take beside one of a type and shape: mostly a result not used yet."""
        alike = [name for name, x in self.values.items() if x.element_type == element_type and x.shape == shape]
        alike = [name for name in alike if self.binding.get(name) != "constant"]
        unused = [name for name in self.unused if name in alike]
        if unused and likely(self.random, 0.7):
            return self.random.choice(unused)
        return self.random.choice(alike) if alike else None


def _outputs(operation: Operation, arguments: Arguments) -> Sequence[Tensor] | None:
    """The outputs of a node; None if they are too large, or take too long."""
    types = operation.infer(arguments)
    shapes = [TensorType(element_type=x.element_type, shape=x.shape) for x in types]
    if not is_small(shapes) or any(math.prod(x.shape) > _ELEMENTS for x in shapes):
        return None
    if isinstance(operation, Computation) and operation.products(arguments) > WORK:
        return None
    return operation.evaluate(arguments)


@cache
def _samples(op: str) -> tuple[Draft, ...]:
    """The samples of an operation of which nodes are made: small ones."""
    return tuple(filter(_is_usable, sample_drafts(op)))


def _is_usable(sample: Draft) -> bool:
    data = [x for name, x in sample.tensors.items() if sample.operation.port_of(name).role == "data"]
    return bool(data) and all(math.prod(x.shape) <= _ELEMENTS and x.element_type in TYPES for x in data)


def _has_rank(sample: Draft, rank: int) -> bool:
    return any(
        len(x.shape) == rank for name, x in sample.tensors.items() if sample.operation.port_of(name).role == "data"
    )


class _Plan:
    """A node made of a sample: one data input is a tensor at hand, and the others follow it."""

    def __init__(self, growth: Growth, operation: Operation, sample: Draft, source: str | None) -> None:
        self.operation, self._growth, self._random = operation, growth, growth.random
        self.tensors: dict[str, TensorDraft] = {}
        self.binding: dict[str, Binding] = {}
        self.values: dict[str, Tensor] = {}
        self.attributes = self._attributes(sample)
        rank = None if source is None else len(growth.values[source].shape)
        names = [
            name
            for name, x in sample.tensors.items()
            if operation.port_of(name).role == "data" and rank in (None, len(x.shape))
        ]
        self._first = names[0] if likely(self._random, 0.7) else self._random.choice(names)
        self._old = sample.tensors[self._first]
        if source is None:
            self._new = self._beginning()
        else:
            known = growth.values[source]
            self._new = TensorDraft(element_type=known.element_type, shape=known.shape, fill="exact")
        self.element_type = self._new.element_type
        self._renamed = dict(zip(self._old.shape, self._new.shape, strict=True))
        chosen = {name: self._operand(name, x, source) for name, x in sample.tensors.items()}
        inputs = [
            chosen.get(name)
            for port in operation.inputs
            for name in (port.names(len(chosen)) if port.variadic else [port.name])
        ]
        while inputs and inputs[-1] is None:
            inputs.pop()
        self.inputs = tuple(inputs)

    def _beginning(self) -> TensorDraft:
        """The first input of a graph: that of the sample, often of another type or with other sizes."""
        tensor = self._old
        if likely(self._random, 0.7):
            tensor = self._typed(tensor, self._random.choice(TYPES))
        if likely(self._random, 0.5):
            sizes = {size: self._random.choice(SIZES) for size in tensor.shape if likely(self._random, 0.6)}
            tensor = resized(tensor, [sizes.get(size, size) for size in tensor.shape])
        return self._filled(tensor)

    def _typed(self, tensor: TensorDraft, element_type: str) -> TensorDraft:
        if tensor.element_type == element_type:
            return tensor
        changed = retyped(tensor, element_type, "exact")
        if changed is None:
            raise _MisfitError
        return changed

    def _filled(self, tensor: TensorDraft) -> TensorDraft:
        return tensor if tensor.fill == "values" else replace(tensor, fill=self._random.choice(_FILLS), elements=())

    def _operand(self, name: str, tensor: TensorDraft, source: str | None) -> str:
        """The tensor that the node takes at a port."""
        port = self.operation.port_of(name)
        if name == self._first:
            return source if source is not None else self._added(name, self._new, "parameter")
        if tensor.element_type == self._old.element_type or name in self.operation.same_types:
            tensor = self._typed(tensor, self._new.element_type)
        if port.role == "setting":
            return self._added(name, self._setting(tensor), "constant")
        shape = self._shape(tensor.shape)
        partner = self._growth.partner(tensor.element_type, shape) if likely(self._random, 0.8) else None
        if partner is not None:
            return partner
        if source is not None and tensor.element_type == self._new.element_type and likely(self._random, 0.1):
            return source
        is_weight = port.constant or likely(self._random, 0.5)
        return self._added(name, self._filled(resized(tensor, shape)), "constant" if is_weight else "parameter")

    def _shape(self, shape: Shape) -> Shape:
        """The shape of another data input: sizes that it shares with the first one change with that one's."""
        if shape == self._old.shape and likely(self._random, 0.3):  # broadcast, where the operation does
            start = self._random.randrange(len(shape) + 1)
            return tuple(size if likely(self._random, 0.7) else 1 for size in self._new.shape[start:])
        return tuple(self._renamed.get(size, size) if likely(self._random, 0.9) else size for size in shape)

    def _setting(self, tensor: TensorDraft) -> TensorDraft:
        """A setting input: that of the sample, in which sizes of the first input and some numbers change."""
        if not ELEMENT_TYPES[tensor.element_type].is_integer:
            return tensor
        change: Callable[[int], int] = lambda x: x  # noqa: E731 - one of several
        match self._random.randrange(4):
            case 0:
                change = lambda x: self._renamed.get(x, x)  # noqa: E731
            case 1:
                near = (0, 1, -1, 2, *self._new.shape)
                change = lambda x: self._random.choice(near) if likely(self._random, 0.4) else x  # noqa: E731
        elements = tuple(change(x) if isinstance(x, int) else x for x in tensor.elements)
        return replace(tensor, elements=elements)

    def _attributes(self, sample: Draft) -> Mapping[str, Attribute]:
        """The attributes of the sample; where one names an element type, often another one that graphs have."""
        return {
            name: self._random.choice(TYPES) if value in ELEMENT_TYPES and likely(self._random, 0.8) else value
            for name, value in sample.attributes.items()
        }

    def _added(self, port: str, tensor: TensorDraft, binding: Binding) -> str:
        name = f"{port}_of_node{len(self._growth.nodes)}"
        if not is_expressible(tensor) or math.prod(tensor.shape) > _ELEMENTS:
            raise _MisfitError
        self.tensors[name], self.binding[name] = tensor, binding
        self.values[name] = fill(tensor, name)
        return name
