"""How Range-4 becomes a call of a framework."""

from collections.abc import Mapping, Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported

#: The inputs, which a framework may also take at run time.
SETTINGS = ("start", "stop", "step")


def of_type(types: Mapping[str, Any]) -> Adapter:
    """The start, the stop, the step and the framework's type of the output, given the framework's types."""

    def arguments(start: Any, stop: Any, step: Any, *, output_type: str) -> Sequence[Any]:
        if output_type not in types:
            raise Unsupported(f"the framework has no element type {output_type}")
        return start, stop, step, types[output_type]

    return Adapter(arguments)
