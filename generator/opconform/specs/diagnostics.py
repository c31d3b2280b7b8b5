"""Diagnostics: pydantic's errors as mistakes with their places."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from opconform.errors import nearest, quoted
from opconform.specs.schema.keys import PATTERNS, RejectKeys
from opconform.specs.yaml_document import ENOUGH, KEY, Document, Mistake, Route, SpecMistakes
from opconform.suite.names import DIMENSION

_Model = TypeVar("_Model", bound=BaseModel)
#: The keys that other tools use in place of the keys of a spec.
_OTHER_WORDS = {
    **dict.fromkeys(("dtype", "type", "datatype", "data_type"), "element_type"),
    **dict.fromkeys(("dims", "dimensions", "size", "sizes"), "shape"),
}
#: What pydantic's type errors expect, in YAML's terms.
_KINDS = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "an integer",
    "list_type": "a list",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "string_type": "a string",
    "tuple_type": "a list",
}


def validated(document: Document, model: type[_Model]) -> _Model:
    """The value of a document as a model; `SpecMistakes` if it does not fit."""
    try:
        return model.model_validate(document.value)
    except ValidationError as error:
        raise SpecMistakes(mistakes_of(error, document, model)) from error


def mistakes_of(
    error: ValidationError, document: Document, model: type[BaseModel], route: Route = (), note: str = ""
) -> Iterator[Mistake]:
    """The first mistakes of a document, one per place.

    `model` is that of the value at the route, and `note` is added to each sentence, with a leading space.
    """
    by_route: dict[Route, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False)[: 5 * ENOUGH]:  # several at one place
        by_route.setdefault(_route(document.value, (*route, *detail["loc"])), []).append(detail)
    around = {location[:length] for location in by_route for length in range(len(location))}
    for location in sorted(by_route, key=document.place)[:ENOUGH]:
        here = by_route[location]
        alternatives = any(x["type"] != "missing" and len(x["loc"]) + len(route) > len(location) for x in here)
        if not (location in around and alternatives):
            yield _mistake(here, document, model, location, note)


def complaint_of(error: ValidationError) -> tuple[Route, str]:
    """The route and the sentence, without a full stop, of one complaint about values that no document has.

    It is the innermost one: of a mapping where a name is allowed, too, the one about its keys.
    """
    first = max(error.errors(include_url=False), key=lambda details: len(details["loc"]))
    inside = tuple(part for part in first["loc"] if isinstance(part, int) or part.isidentifier())  # no unions
    if first["type"] == "extra_forbidden":
        return inside, f"unknown key {quoted(inside[-1])}"
    if first["type"] == "missing":
        return inside[:-1], f"the key {inside[-1]!r} is missing"
    return inside, f"{'.'.join(map(str, inside))}: {quoted(first['input'])} is not allowed: {_wanted(first)}"


def _mistake(
    errors: Sequence[ErrorDetails], document: Document, model: type[BaseModel], route: Route, note: str
) -> Mistake:
    first = errors[0]
    last = first["loc"][-1] if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        allowed = sorted(_keys_at(model, first["loc"][:-1]))
        replacement = _OTHER_WORDS.get(str(last))
        hint = f"Did you mean {replacement!r}? " if replacement in allowed else nearest(str(last), allowed)
        sentence = f"Unknown key {quoted(last)}. {hint}Allowed: {', '.join(allowed)}.{note}"
        return document.mistake((*route, KEY), sentence)
    if first["type"] == "missing":
        names = [repr(error["loc"][-1]) for error in errors if error["type"] == "missing"]
        missing = f"key {names[0]} is" if len(names) == 1 else f"keys {', '.join(names)} are"
        return document.mistake(route, f"The {missing} missing.{note}")
    names = [x for x in route if isinstance(x, str)]
    key = f"{'.'.join(names[-2:] if 'matrix' in names[-2:-1] else names[-1:])}: " if names else ""
    first_wanted, *others = dict.fromkeys(_wanted(error) for error in errors)
    wanted = " or ".join([first_wanted, *(wish.removeprefix("it must be ") for wish in others)])
    given = first["input"]
    value = "null" if given is None else "a mapping" if isinstance(given, dict) else quoted(given)
    if "dynamic" in names and (first["input"] is None or first["input"] == -1):
        sentence = f'{key}{value} is not allowed: it must be {PATTERNS[DIMENSION]}. Did you mean "?"?'
        return document.mistake(route, f"{sentence}{note}")
    if first["input"] in _variables_at(document.value, route):
        wanted += f'; write "${{{{ {given} }}}}" for the variable'
    elif "shape" in names and isinstance(given, str) and given.isidentifier():
        wanted += f'; for a variable, list its values in `matrix` and write "${{{{ {given} }}}}"'
    return document.mistake(route, f"{key}{value} is not allowed: {wanted}.{_near(errors)}{note}")


def _variables_at(value: Any, route: Route) -> Collection[object]:
    """The variables of the group that a route of a spec leads into."""
    if not isinstance(value, dict) or route[:1] != ("groups",) or len(route) <= 1:
        return ()
    group = value["groups"][route[1]]
    if not isinstance(group, dict):
        return ()
    random = group.get("random")
    drawn = random.get("draw") if isinstance(random, dict) else None
    return [name for x in (group.get("matrix"), drawn) if isinstance(x, dict) for name in x]


def _wanted(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            return f"it must be {context['expected']}"
        case "string_pattern_mismatch":
            return f"it must be {PATTERNS.get(context['pattern'], context['pattern'])}"
        case "value_error":
            return str(context["error"])
        case "too_short" if context["min_length"] == 1:
            return "it must not be empty"
        case "model_type" if context["class_name"] == RejectKeys.__name__:
            return "it must be {reject: REQUIREMENT}"
        case kind if kind in _KINDS:
            return f"it must be {_KINDS[kind]}"
        case _:
            return error["msg"].replace("Input should", "it must").replace("valid ", "")


def _near(errors: Sequence[ErrorDetails]) -> str:
    value = errors[0]["input"]
    expected = " ".join(str(error.get("ctx", {}).get("expected", "")) for error in errors)
    hint = nearest(value, expected.replace("'", "").replace(",", "").split()) if isinstance(value, str) else ""
    return f" {hint.rstrip()}" if hint else ""


def _route(value: Any, location: Iterable[str | int]) -> Route:
    """Pydantic's location without the names of a union's members, which are not places in the value."""
    route: list[str | int] = []
    for part in location:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            value = value[part]
            route.append(part)
    return tuple(route)


def _keys_at(model: type[BaseModel], location: Iterable[str | int]) -> set[str]:
    models = {model}
    for part in location:
        fields = [model.model_fields[part].annotation for model in models if part in model.model_fields]
        if fields:
            models = {inner for field in fields for inner in _models_in(field)}
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for member in get_args(annotation):
        yield from _models_in(member)
