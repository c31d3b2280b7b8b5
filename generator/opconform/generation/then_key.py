"""The key `then` of a case: the operation that takes the last output of the node under test."""

from functools import cache
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from opconform.errors import nearest, quoted
from opconform.generation.attribute_keys import attributes_of
from opconform.generation.identity.tensor_keys import KnownTensors, tensor_drafts
from opconform.generation.options import LIMITS, Limits
from opconform.model.draft import Neighbour
from opconform.operations import OPERATIONS
from opconform.specs.diagnostics import complaint_of
from opconform.specs.every.groups import neighbour, neighbours
from opconform.specs.schema.keys import CONCRETE
from opconform.specs.schema.models import models_of
from opconform.specs.yaml_document import KeyMistake


def neighbour_of(keys: Any, limits: Limits, known: KnownTensors) -> Neighbour | None:
    """The neighbour that the keys of a case describe, or None; `KeyMistake` if they contradict each other."""
    if keys.then is None:
        if keys.context == "then":
            raise KeyMistake(
                "context", "the context `then` needs the key `then`, with the neighbour's `op` and arguments"
            )
        return None
    if keys.context not in ("bare", "then"):
        raise KeyMistake("context", f"`then` is a context of its own, so it cannot be combined with {keys.context}")
    op = keys.then.get("op")
    if not isinstance(op, str) or op not in OPERATIONS:
        hint = nearest(str(op), list(OPERATIONS))
        raise KeyMistake("then", f"op: {quoted(op)} is not a known operation. {hint}".rstrip(" ."), ("op",))
    try:
        checked: Any = models_of(op).neighbour.model_validate(dict(keys.then), context=CONCRETE)
    except ValidationError as error:
        inside, sentence = complaint_of(error)
        raise KeyMistake("then", sentence, inside) from error
    operation = OPERATIONS[op]
    try:
        settings = tensor_drafts(operation, checked, limits, known)
    except KeyMistake as error:
        raise KeyMistake("then", f"{error.key}: {error.sentence}", (error.key, *error.inside), error.value) from error
    return Neighbour(op=op, settings=settings, attributes=attributes_of(operation, checked))


@cache
def shipped_neighbours() -> tuple[Neighbour, ...]:
    """The neighbours that the groups of every operation put behind an operation."""
    keys = (neighbour(x["op"], x["sample"]) for x in neighbours())
    checked = (neighbour_of(SimpleNamespace(then=key, context="then"), LIMITS, KnownTensors()) for key in keys)
    return tuple(x for x in checked if x is not None)
