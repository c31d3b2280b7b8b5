"""How Convert-1 becomes a call of a framework."""

from collections.abc import Mapping, Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported


def destination(types: Mapping[str, Any]) -> Adapter:
    """Data and the framework's type of the destination, given the framework's types."""

    def arguments(data: Any, *, destination_type: str) -> Sequence[Any]:
        if destination_type not in types:
            raise Unsupported(f"the framework has no element type {destination_type}")
        return data, types[destination_type]

    return Adapter(arguments)
