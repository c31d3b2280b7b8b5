"""A second program for the facts of conditions: it reads the files of a suite itself, and evaluates one fact at a time.

It shares no code with `opconform_runners.reports`. A fact is a sentence here, and what it says is written out once more.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from opconform.operations import OPERATIONS
from opconform.tensors.tensor import Tensor
from tests.findings.naive_cases import BITS, FLOATS, MANTISSA, SIGNED, UNSIGNED, Read, bits_of, floats, numbers
from tests.findings.naive_relations import of_arguments, of_misread_attributes, of_reading


def width(value: int) -> int:
    """The bits of an integer besides its sign."""
    return len(f"{value if value >= 0 else -value - 1:b}".lstrip("0"))


def has_elements(words: str, tensor: Tensor) -> bool | None:
    """Whether one tensor has what a fact says about its elements or shape; None if it says something else."""
    shape: tuple[int, ...] = tensor.array.shape
    kind = tensor.element_type
    if found := re.fullmatch(r"has rank (\d+)( or more)?", words):
        return len(shape) >= int(found[1]) if found[2] else len(shape) == int(found[1])
    if words == "ends within a byte":
        return math.prod(shape) * bits_of(kind) % 8 != 0
    if words == "has rows that end within a byte":
        return bool(shape) and shape[-1] * bits_of(kind) % 8 != 0
    simple = {
        "is empty": 0 in shape,
        "has one element": math.prod(shape) == 1,
        "has a dimension beyond 31 bits": max(shape, default=0) >= 2**31,
        "has a dimension of 1": 1 in shape,
        "has a first dimension of 1 before others": len(shape) > 1 and shape[0] == 1,
        "is a scalar": shape == (),
    }
    if words in simple:
        return simple[words]
    if found := re.fullmatch(
        r"(has|is|has a value) (a negative value|negative|a value below -1|below -1|-1|0|beyond (\d+) bits)", words
    ):
        if not (SIGNED.match(kind) or UNSIGNED.match(kind)):
            return False
        if (found[1] == "is") != (shape == ()):
            return False
        what, values = found[2].removeprefix("a value "), numbers(tensor)
        tests: Mapping[str, Callable[[int], bool]] = {
            "a negative value": lambda value: value < 0, "negative": lambda value: value < 0,
            "below -1": lambda value: value < -1, "-1": lambda value: value == -1, "0": lambda value: value == 0,
        }  # fmt: skip
        return any(tests[what](value) if what in tests else width(value) > int(found[3]) for value in values)
    return has_floats(words, tensor)


def has_floats(words: str, tensor: Tensor) -> bool | None:
    """Whether a floating-point tensor has what a fact says; None if it says something else."""
    kind, is_float = tensor.element_type, tensor.element_type in FLOATS
    with np.errstate(all="ignore"):
        values = floats(tensor).astype(np.float64) if is_float else np.array([])
        match words:
            case "has NaNs":
                return bool(np.isnan(values).any())
            case "has infinities":
                return bool(np.isinf(values).any())
            case "has negative zeros":
                return any(value == 0 and math.copysign(1, value) < 0 for value in values.tolist())
            case "has denormal numbers":
                smallest = float(ml_dtypes.finfo(FLOATS[kind]).smallest_normal) if is_float else 0  # type: ignore[no-untyped-call]
                return any(0 < abs(value) < smallest for value in values.tolist())
            case "has signalling NaNs":
                if kind not in MANTISSA:
                    return False
                bits = tensor.array.ravel().view(f"u{bits_of(kind) // 8}").tolist()
                quiet = 1 << MANTISSA[kind] - 1
                return any(
                    math.isnan(value) and not bit & quiet for value, bit in zip(values.tolist(), bits, strict=True)
                )
    if found := re.fullmatch(r"has values that (f32|bf16|f16) rounds", words):
        if not is_float or bits_of(kind) <= bits_of(found[1]):
            return False
        finite = floats(tensor)[np.isfinite(values)]
        with np.errstate(all="ignore"):
            return bool((finite.astype(FLOATS[found[1]]).astype(np.float64) != finite.astype(np.float64)).any())
    return None


def is_delivered(words: str, given: Mapping[str, Any]) -> bool | None:
    """Whether an input is given in a way; None if a fact says something else."""
    dynamic: Any = given.get("dynamic")
    kind: str = given["element_type"]
    has_rank = isinstance(dynamic, list)
    simple: dict[str, bool] = {
        "is constant": given["binding"] == "constant",
        "is given at run time": given["binding"] != "constant",
        "has static dimensions": dynamic is None,
        "has a dynamic rank": dynamic == "...",
        "has dynamic dimensions": has_rank,
        "has dimensions of any size": has_rank and "?" in (dynamic or ()),
        "has bounded dimensions": has_rank and any(".." in str(x) for x in dynamic or ()),
        "is signed integers": bool(SIGNED.match(kind)),
        "is unsigned integers": bool(UNSIGNED.match(kind)),
        "is floating-point": kind in FLOATS,
        "is strings": kind == "string",
        "has elements narrower than a byte": 0 < bits_of(kind) < 8,
        "has 64-bit elements": bits_of(kind) == 64,
    }
    if words in simple:
        return simple[words]
    kinds = {*BITS, *FLOATS, *(f"{sign}{bits}" for sign in "iu" for bits in (1, 2, 3, 4, 6, 8, 16, 32, 64))}
    return kind == words.removeprefix("is ") if words.removeprefix("is ") in kinds else None


def of_case(fact: str, it: Read) -> bool | None:
    """Whether a case has a fact about its graph, expectation or bindings; None if it says something else."""
    document, inputs = it.document, it.inputs
    reject = document["expect"].get("reject")
    is_static = all(input_.get("dynamic") is None for input_ in inputs)
    is_fixed = all(input_["binding"] == "constant" for input_ in inputs if input_["role"] == "setting")
    simple: dict[str, bool] = {
        "there are two inferences": document["feeds"] == 2,
        "all inputs are constant": all(input_["binding"] == "constant" for input_ in inputs),
        "a shape is dynamic": not is_static,
        "no shape is dynamic": is_static,
        "all shapes are known when the model is built": is_static and is_fixed,
        "a shape is known only at run time": not (is_static and is_fixed),
        "there are several outputs": len(document["expect"].get("accept", ())) > 1,
    }
    if fact in simple:
        return simple[fact]
    for pattern, holds in (
        (r"the operation is (.*)", lambda name: document["op"] == name),
        (r"the context is (.*)", lambda name: document["context"] == name),
        (r"([\w.-]+) is violated", lambda name: reject == name),
        (r"([\w-]+\.[\w.-]+) is tested", lambda name: reject is None and name in document["requirements"]),
    ):
        if found := re.fullmatch(pattern, fact):
            return bool(holds(found[1]))
    return None


def of_attributes(fact: str, it: Read) -> bool | None:
    """Whether a case has a fact about its attributes and omitted inputs; None if it says something else."""
    given, operation = it.attributes, OPERATIONS[it.case.op]
    declared = {input_.name for input_ in operation.inputs if not input_.variadic}
    declared |= {attribute.name for attribute in operation.attributes}
    if fact == "the list attributes differ in length":
        return len({len(x) for x in given.values() if isinstance(x, list) and x}) > 1
    if found := re.fullmatch(r"(\w+) is omitted", fact):
        return found[1] in declared and found[1] not in given and found[1] not in it.node["inputs"]
    if fact == "a required input or attribute is omitted":
        required = {*(attribute.name for attribute in operation.attributes if attribute.default is None)} - given.keys()
        ports = [input_ for input_ in operation.inputs if not input_.optional and not input_.variadic]
        has_none = not it.node["inputs"] and bool(operation.inputs)
        return bool(required) or has_none or any(port.name not in it.node["inputs"] for port in ports)
    if (found := re.fullmatch(r"(\w+) (is|has) (.*)", fact)) and found[1] in given:
        value, words = given[found[1]], found[3]
        if isinstance(value, list):
            return words in map(repr, value) if found[2] == "has" else words == "empty" and not value
        if found[2] == "has":
            return False
        whole = int(value) if isinstance(value, int) else None
        named = {"negative": -1, "below -1": -2}
        if words in named:
            return whole is not None and whole <= named[words]
        if beyond := re.fullmatch(r"beyond (\d+) bits", words):
            return whole is not None and width(whole) > int(beyond[1])
        return words == repr(value) or (words in ("-1", "0") and whole == int(words))
    return None


def of_lengths(fact: str, it: Read, feed: Mapping[str, Tensor]) -> bool | None:
    """Whether lists of a feed compare as a fact says; None if it says something else."""
    if found := re.fullmatch(r"(\w+) has a value that is not an index of any dimension of data", fact):
        sizes = feed[it.inputs[0]["name"]].array.shape if it.inputs else ()
        given = next(
            (input_ for input_ in it.inputs if input_["name"] == found[1] and input_["role"] == "setting"), None
        )
        if given is None or not sizes or not re.match(r"[iu]\d", given["element_type"]):
            return False
        return any(not -max(sizes) <= number < max(sizes) for number in numbers(feed[found[1]]))
    if not (found := re.fullmatch(r"(\w+) has (fewer|more) elements than (.*)", fact)):
        return None
    lists = {
        input_["name"]: len(feed[input_["name"]].array)
        for input_ in it.inputs
        if input_["role"] == "setting" and feed[input_["name"]].array.ndim == 1
    } | {name: len(attribute) for name, attribute in it.attributes.items() if isinstance(attribute, list)}
    if found[3] == "data has dimensions":
        other = feed[it.inputs[0]["name"]].array.ndim if it.inputs and it.inputs[0]["role"] == "data" else None
    else:
        other = lists[found[3]] if lists and next(iter(lists)) == found[3] else None
    own = lists.get(found[1])
    if own is None or other is None:
        return False
    return own < other if found[2] == "fewer" else own > other


def holds(fact: str, it: Read) -> bool:
    """Whether a case has a fact: one about an inference holds if one of the feeds has it; no case has an unknown one."""
    answers: list[bool | None] = [of_case(fact, it), of_attributes(fact, it)]
    words = fact.partition(" ")[2] if not fact.startswith("a setting input ") else fact.removeprefix("a setting input ")
    name = fact.removesuffix(f" {words}")
    is_named = name in ("data", "a setting input") or any(input_["name"] == name for input_ in it.inputs)
    for feed in it.feeds:
        answers += [of_lengths(fact, it, feed), of_reading(fact, it, feed), of_misread_attributes(fact, it, feed)]
        node = it.arguments(feed)
        answers.append(of_arguments(fact, node) if node is not None else None)
        for item in it.inputs if is_named else ():
            if item["name"] in it.called(name):
                answers += [has_elements(words, feed[item["name"]]), is_delivered(words, item)]
    if fact.startswith("an output "):
        answers += [
            has_elements(fact.removeprefix("an output "), tensor) for feed in it.expected for tensor in feed.values()
        ]
    if words == "has another shape in the second inference":
        answers.append(any(len({feed[x].array.shape for feed in it.feeds}) > 1 for x in it.called(name)))
    if words == "is empty in one inference":
        answers.append(any(len({0 in feed[x].array.shape for feed in it.feeds}) > 1 for x in it.called(name)))
    return any(answer for answer in answers)
