"""A framework's rows, and what surrounds its calls: constraints, settings as Python's own values, and exceptions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from opconform.suite.case import Attribute, Input
from opconform.suite.declarations import Declaration, DeclaredCase, Typed
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.settings import COMPUTING, FrameworkOperand, is_plain
from opconform_runners.backends.backend import Implementation, Unsupported, full_name
from opconform_runners.backends.constraints import check_constants, check_declared
from opconform_runners.backends.exceptions import Call, Translation
from opconform_runners.backends.graph import Function, outputs_of

#: The element types of numpy and ml_dtypes that take whole bytes, other than strings.
BYTE_TYPES = tuple(
    kind for kind in ELEMENT_TYPES.values() if kind.native is not None and kind.kind != "string" and kind.bits % 8 == 0
)


class Adapter(NamedTuple):
    """How the operands and attributes of an operation become the arguments of frameworks' functions.

    Attributes:
        arguments: The arguments by position, for operands by position and attributes by name, of which omitted ones are
            None. It raises `Rejected` for what frameworks have no concept of.
        mapped: The ids of the requirements that it fulfils, beyond the constraints of the declaration.
        constraints: The constraints of the declaration that are checked before the call, because frameworks have no
            concept of them, by the ids of requirements or their first words; None for all.
    """

    arguments: Callable[..., Sequence[Any]] | None = None
    mapped: tuple[str, ...] = ()
    constraints: tuple[str, ...] | None = None


class Row(NamedTuple):
    """How a framework executes one operation.

    Attributes:
        call: The framework's function, for the arguments of the adapter without omitted ones, or for operands and
            attributes if that has no function. It returns a tensor, or a list or tuple of tensors.
        mapped: The ids of the requirements that it fulfils for the framework, beyond what the adapter does.
        tensors: The settings that it takes as the framework's own tensors, and not as Python's numbers and lists.
        run_time: The settings that it takes as tensors where they are given at run time.
        types: The integer types that the framework takes for settings, if not all; others are given in the first.
    """

    call: Callable[..., Any]
    adapter: Adapter = Adapter()
    mapped: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    run_time: tuple[str, ...] = ()
    types: Mapping[str, tuple[str, ...]] = {}

    def names(self, op: str) -> list[str]:
        """The full names of the constraints that are checked before the call."""
        constraints = self.adapter.constraints
        return [op] if constraints is None else [full_name(op, name) for name in constraints]


@dataclass(frozen=True, kw_only=True, slots=True)
class Framework:
    """A Python framework with operations on tensors.

    Attributes:
        types: Its types that carry every bit of an element, by the names of the element types.
        rows: A row per operation, or only the framework's function.
        tensor: A tensor of Python's numbers or lists and one of its types, for constants of a graph that are data.
        computing: The operations on settings that it executes besides.
        static: The Python value of a tensor that is known when the graph is built; other values as they are.
        shape: The shape of a tensor, or None if its rank is not known.
        checks: Whether constraints are checked at each call; what compiles Python may not understand the check.
    """

    name: str
    version: str
    types: Mapping[str, Any]
    rows: Mapping[str, Row | Callable[..., Any]]
    tensor: Callable[[Any, Any], Any]
    translation: Translation
    computing: tuple[str, ...] = ("Constant-1", "ShapeOf-3")
    static: Callable[[Any], Any] = lambda value: value
    shape: Callable[[Any], tuple[int, ...] | None] = lambda value: tuple(value.shape)
    checks: bool = True

    def implementation(self, device: str) -> Implementation:
        """The description of the backend on a device, with dynamic dimensions and settings at run time."""
        rows = {op: self.row(op) for op in self.rows}
        checked = [name for op, row in rows.items() for name in row.names(op)]
        fulfilled = [full_name(op, name) for op, row in rows.items() for name in (*row.adapter.mapped, *row.mapped)]
        return Implementation(
            name=self.name,
            version=self.version,
            device=device,
            element_types=tuple(self.types),
            operations=(*self.rows, *self.computing),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
            mapped=(*checked, *fulfilled),
        )

    def row(self, op: str) -> Row:
        """The row of an operation; raises `Unsupported` if there is none."""
        if op not in self.rows:
            raise Unsupported(f"{self.name} has no row for {op}")
        row = self.rows[op]
        return row if isinstance(row, Row) else Row(row)

    def outputs(self, case: DeclaredCase, inputs: Mapping[str, Any], call: Call) -> list[Any]:
        """The outputs of a case's model, by functions that `call` calls."""
        check_constants(case, case.declarations)
        operands = {port.name: self.operand(inputs[port.name], port) for port in case.inputs}
        outputs = outputs_of(case, operands, self.functions(case, call))
        return [self._output(output) for output in outputs]

    def _output(self, output: Any) -> Any:
        """An output of a model; a computed list of another type than i64 becomes a tensor of its type."""
        if not isinstance(output, FrameworkOperand):
            return output
        is_other = is_plain(output.value) and output.element_type not in ("", "i64")
        return self.tensor(output.value, self.types[output.element_type]) if is_other else output.value

    def functions(self, case: DeclaredCase, call: Call) -> dict[str, Function]:
        """The function of each operation, on operands, and on what the functions return."""
        return {op: partial(self._executed, case, call, op) for op in (*self.rows, *self.computing)}

    def operand(self, value: Any, source: Input | None = None) -> FrameworkOperand:
        """A tensor of the framework, or the Python value of an input or of a computed list of integers."""
        if isinstance(value, FrameworkOperand):
            return value
        if is_plain(value):
            computed = "i64", (len(value),) if isinstance(value, list) else ()
            return FrameworkOperand(value, *(computed if source is None else (source.element_type, source.shape)))
        shape = self.shape(value)
        return FrameworkOperand(value, self.name_of(value.dtype), shape or (), shape is not None)

    def _executed(
        self, case: DeclaredCase, call: Call, op: str, inputs: Sequence[Any], attributes: Mapping[str, Attribute]
    ) -> list[Any]:
        operands = [None if value is None else self.operand(value) for value in inputs]
        is_tested = case.tests_graph or op == case.op
        if (op in self.computing and not (is_tested and op in self.rows)) or (
            op in COMPUTING and operands and operands[0] and isinstance(operands[0].value, list)
        ):
            return [COMPUTING[op]([operand.value for operand in operands if operand], attributes)]
        declaration, row = case.declaration(op), self.row(op)
        named = self._settled(declaration, row, declaration.named(operands), attributes)
        values = [named.get(name) for port in declaration.inputs for name in port.names(len(inputs))]
        options = {spec.name: attributes.get(spec.name, spec.default) for spec in declaration.attributes}
        if row.adapter.arguments is not None:
            values, options = [*row.adapter.arguments(*values, **options)], {}
        positional = [value for value in values if value is not None]
        results = call(row.call, *positional, **{name: value for name, value in options.items() if value is not None})
        return [*results] if isinstance(results, list | tuple) else [results]

    def _settled(
        self,
        declaration: Declaration,
        row: Row,
        named: Mapping[str, FrameworkOperand],
        attributes: Mapping[str, Attribute],
    ) -> dict[str, Any]:
        """The operands as the adapter takes them; raises `Rejected` for what violates constraints."""
        roles = {name: port.role for name in named for port in declaration.inputs if port.takes(name)}
        plain = [name for name in named if roles[name] == "setting" and name not in row.tensors]
        values = {
            name: self.static(operand.value) if name in plain else self._value(operand, row.types.get(name, ()))
            for name, operand in named.items()
        }
        if late := [name for name in plain if name not in row.run_time and not is_plain(values[name])]:
            raise Unsupported(f"{late[0]} is given at run time, and {self.name} takes Python's numbers")
        if self.checks:
            unknown = [name for name, operand in named.items() if not operand.has_rank]
            check_declared(declaration, named, attributes, row.names(declaration.name), unknown)
        return values

    def _value(self, operand: FrameworkOperand, types: Sequence[str]) -> Any:
        """A tensor of the framework; numbers become one, unless it lacks their type."""
        if not is_plain(operand.value) or (types and operand.element_type not in types):
            return operand.value
        array = np.reshape(operand.value, operand.shape)
        numbers = array.tolist() if array.size else array  # a list has no dimensions behind one of 0
        return self.tensor(numbers, self.types[operand.element_type])

    def check(self, case: DeclaredCase) -> None:
        """Raise `Rejected` if attributes or inputs of a case violate constraints, before anything is computed."""
        inputs: dict[str, Typed] = {tensor.name: tensor for tensor in case.inputs}
        for node in (node for node in case.graph.nodes if node.op in self.rows):
            declaration, computed = case.declaration(node.op), FrameworkOperand(None, "", (), has_rank=False)
            operands = [None if name is None else inputs.get(name, computed) for name in node.inputs]
            named: dict[str, Typed] = declaration.named(operands)
            unknown = [name for name, operand in named.items() if operand is computed]
            check_declared(declaration, named, node.attributes, self.row(node.op).names(node.op), unknown)

    def takes_tensor(self, case: DeclaredCase, tensor: Input) -> bool:
        """Whether an input of a case becomes a tensor of the framework, and not numbers and lists of Python's."""
        return tensor.role == "data" or any(port in row.tensors for row, port in self.taking(case, tensor))

    def taking(self, case: DeclaredCase, tensor: Input) -> Iterator[tuple[Row, str]]:
        """The rows, with the names of ports, of the operations under test that take an input."""
        if not case.tests_graph:
            yield self.row(case.op), tensor.name
            return
        for node in case.graph.nodes:
            ports = case.declaration(node.op).named(node.inputs)
            if node.op in self.rows:
                yield from ((self.row(node.op), port) for port, name in ports.items() if name == tensor.name)

    def name_of(self, kind: Any) -> str:
        """The element type of a framework's type; raises `Unsupported` if it has no name here."""
        known = {product_type: name for name, product_type in self.types.items()}
        if kind not in known:
            raise Unsupported(f"the output has {self.name}'s type {kind}, which opconform does not know")
        return known[kind]

    def type_of(self, tensor: Tensor) -> Any:
        """The framework's type for a tensor; raises `Unsupported` if it has none."""
        if tensor.element_type not in self.types:
            raise Unsupported(f"{self.name} has no element type {tensor.element_type}")
        return self.types[tensor.element_type]
