"""Cases in which independent backends agree with each other and not with the expected outcome: it may be wrong."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opconform_runners.verdicts.results import Result

#: How many products must agree.
_AGREEING = 3
#: The failures that are answers; the others only say that the backend did not end well.
_ANSWERS = frozenset({"accepted-invalid", "rejected-valid", "count", "element-type", "shape", "value", "nan-payload"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A case in which opconform may be wrong.

    Attributes:
        answer: What the backends agree on: the beginning of the sentence on their failures.
        backends: The backends of at least three products that agree.
    """

    id: str
    answer: str
    backends: tuple[str, ...]


def suspects_of(results: Mapping[str, Sequence[Result]]) -> tuple[Suspect, ...]:
    """The cases in which at least three products give the same answer, which is not the expected one.

    `results` has the results on one suite by the backend's name. Backends whose names have the same first word, such as
    `openvino` and `openvino-onnx`, are of one product.
    """
    agreeing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, of_backend in results.items():
        for each in of_backend:
            if each.verdict == "fail" and each.reason in _ANSWERS:
                agreeing[each.id, _answer(each)].append(name)
    return tuple(
        Suspect(id=identity, answer=answer, backends=tuple(names))
        for (identity, answer), names in sorted(agreeing.items())
        if len({_product(name) for name in names}) >= _AGREEING
    )


def _product(name: str) -> str:
    return name.replace(":", "-").partition("-")[0]


def _answer(result: Result) -> str:
    """What a backend answered, without its own words."""
    return "rejected" if result.reason == "rejected-valid" else result.sentence
