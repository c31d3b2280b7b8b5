"""What is known of the operations: their cases by profile, and the dialects and frameworks that have them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from maintenance import ROOT
from opconform.dialects.onnx.operations import RENDERINGS as ONNX
from opconform.dialects.stablehlo import RENDERINGS as STABLEHLO
from opconform.specs.index import index_of
from opconform.suite.selection.selection import PROFILES

#: The modules with the rows of each framework.
_ROWS = {"torch": "rows/*.py", "jax": "backend.py", "tensorflow": "rows.py", "tinygrad": "backend.py"}
#: The dialect that a backend reads, where it cannot express every operation.
_DIALECTS = {
    "iree": "StableHLO",
    "onnx-reference": "ONNX",
    "onnxruntime": "ONNX",
    "openvino-onnx": "ONNX",
    "tvm": "ONNX",
}


@cache
def expressed() -> Mapping[str, frozenset[str]]:
    """The operations that a dialect can express or a framework has, for some arguments at least."""
    frameworks = {name: frozenset(_rows_in(name)) for name in _ROWS}
    return {"ONNX": frozenset(ONNX), "StableHLO": frozenset(STABLEHLO), **frameworks}


def has_operation(backend: str, op: str) -> bool:
    """Whether a backend can be given cases of an operation."""
    name = _DIALECTS.get(backend, backend.partition(":")[0])
    return name not in expressed() or op in expressed()[name]


def _rows_in(framework: str) -> set[str]:
    """The operations of a framework's rows, by the text of its modules, which may not be importable here."""
    folder = ROOT / "runners" / "opconform_products" / framework
    sources = (path.read_text() for path in folder.glob(_ROWS[framework]))
    return {op for source in sources for op in re.findall(r'^ +"(\w+-\d+)": \w', source, re.MULTILINE)}


def numbers_of_cases(ops: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """The number of cases of each operation by profile; of `exhaustive`, only what the index counts."""
    counts: dict[str, Counter[str]] = {op: Counter() for op in ops}
    for name, group in index_of(ops).groups.items():
        counts[name.partition("/")[0]][group.profile] += sum(kind.cases for kind in group.kinds or ())
    return {op: {x: of_op[x] for x in sorted(of_op, key=_place) if of_op[x]} for op, of_op in counts.items()}


def _place(profile: str) -> tuple[int, str]:
    return (PROFILES.index(profile) if profile in PROFILES else len(PROFILES), profile)
