"""The declarations that a suite carries: what they refuse, and how they travel."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from opconform.errors import SuiteError
from opconform.operations import OPERATIONS
from opconform.suite.case import GRAPH, Attribute, Input, Reject, Shape, case_from, harness_text
from opconform.suite.declarations import (
    AttributeSpec,
    Declaration,
    DeclaredCase,
    Port,
    RanksFrom,
    declared_case_from,
)
from opconform.suite.file_names import HEADER
from opconform.suite.manifest import header_of, header_text, sealed_text
from opconform.suite.reader import Suite, open_suite
from tests.conftest import Run

#: A declaration with every constraint.
TAKE = Declaration(
    name="Take-1",
    inputs=(
        Port("data", ranks=RanksFrom(1)),
        Port("index", setting=True, types=("i32", "i64"), shapes=((), (1,)), prefix="place"),
        Port("fill", optional=True, ranks=(0,)),
    ),
    attributes=(
        AttributeSpec("mode", type="enum", values=("clip", "wrap")),
        AttributeSpec("scale", type="float", default=1.0),
        AttributeSpec("mask", type="ints", values=(0, 1), default=(0,)),
    ),
    moves_data=True,
)


def tensor(element_type: str, *shape: int) -> Input:
    """An input of a case, of which only the type is read."""
    return Input(name="x", role="data", element_type=element_type, shape=shape, binding="constant")


def asked(suite: Suite, name: str) -> DeclaredCase:
    """A case as a harness reads it."""
    return declared_case_from(json.loads(harness_text(suite.case(suite.by_id[name]), suite.declarations)))


@pytest.mark.parametrize(
    ("inputs", "attributes", "expected"),
    [
        ({}, {}, ()),
        ({"data": None}, {}, ("Take-1:data.required",)),
        ({"data": tensor("f32")}, {}, ("Take-1:data.rank",)),
        ({"index": tensor("f32", 2)}, {}, ("Take-1:place.shape", "Take-1:place.element-type")),
        ({"fill": tensor("f32", 1)}, {}, ("Take-1:fill.rank",)),
        ({}, {"mode": "Clip"}, ("Take-1:mode.spelling",)),
        ({}, {"scale": "1"}, ("Take-1:scale.type",)),
        ({}, {"mask": (2,)}, ("Take-1:mask.values",)),
        (
            {"index": None, "data": tensor("f32")},
            {"mask": 1, "mode": 1},
            ("Take-1:data.rank", "Take-1:place.required", "Take-1:mode.values", "Take-1:mask.type"),
        ),
    ],
)
def test_violated_requirements_are_named_in_the_order_of_the_declaration(
    inputs: dict[str, Input | None], attributes: dict[str, Attribute], expected: tuple[str, ...]
) -> None:
    """Ports first, then attributes, each by its full name."""
    every = {"data": tensor("f32", 2, 3), "index": tensor("i64"), **inputs}
    present = {name: x for name, x in every.items() if x is not None}

    assert TAKE.violations(present, {"mode": "wrap", **attributes}) == expected


@pytest.mark.parametrize(("shape", "is_allowed"), [((), False), ((2,), True), ((1,) * 40, True)])
def test_ranks_from_the_least_have_no_end(shape: Shape, *, is_allowed: bool) -> None:
    """A rank that no list of ranks has is allowed too."""
    assert (len(shape) in RanksFrom(1)) is is_allowed


def test_operands_have_the_names_of_ports() -> None:
    """An omitted operand before another one is None, and a variadic port numbers its operands."""
    joined = Declaration(name="Join-1", inputs=(Port("inputs", variadic=True),), moves_data=True)

    assert TAKE.named(["d", None, "f"]) == {"data": "d", "fill": "f"}
    assert TAKE.named(["d"]) == {"data": "d"}
    assert joined.named(["a", "b"]) == {"inputs_0": "a", "inputs_1": "b"}
    assert joined.violations({}, {}) == ("Join-1:inputs.required",)


def test_a_header_keeps_every_declaration(small_suite: Path) -> None:
    """What is written is read as it was, the shipped operations' declarations included."""
    header = replace(
        open_suite(small_suite).header,
        declarations=(TAKE, *(operation.declaration for operation in OPERATIONS.values())),
    )

    assert header_of(header_text(header).encode(), "suite.json").declarations == header.declarations


def test_an_unknown_key_of_a_declaration_is_refused(small_suite: Path) -> None:
    """A constraint that this version does not know is not ignored."""
    document = json.loads((small_suite / HEADER).read_text())
    del document["checksum"]
    document["declarations"][0]["inputs"][0]["sorted"] = True

    with pytest.raises(SuiteError, match=r"declarations\.0\.inputs\.0\.sorted: "):
        header_of(sealed_text(document).encode(), "suite.json")


def test_a_suite_of_format_1_is_to_be_generated_again(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """In one sentence."""
    document = json.loads((small_suite / HEADER).read_text()) | {"format": 1}
    del document["declarations"]
    (tmp_path / HEADER).write_text(json.dumps(document))
    done = opconform("run", tmp_path, "--backend", "numpy", "--out", tmp_path / "out", code=1)

    sentence = "is of suite format 1, which is no longer read. Generate the suite again."
    assert done.stderr.strip() == f"error: {tmp_path / HEADER} {sentence}"


def test_a_suite_declares_the_operations_of_its_cases(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Whatever else it declares."""
    shutil.copytree(small_suite, tmp_path / "suite")
    header = replace(open_suite(small_suite).header, declarations=(TAKE,))
    (tmp_path / "suite" / HEADER).write_text(header_text(header))
    done = opconform("verify", tmp_path / "suite", code=1)

    assert f"{tmp_path / 'suite' / HEADER}: it does not declare VariadicSplit-1." in done.stdout + done.stderr


def test_the_declaration_alone_refuses_no_valid_case_and_names_what_an_invalid_one_violates(any_core: Path) -> None:
    """From what a harness receives: element types, shapes and attributes."""
    suite = open_suite(any_core)
    counts = Counter[str]()
    for entry in (x for x in suite.entries if x.op != GRAPH):  # whose nodes have declarations
        case = asked(suite, entry.id)
        inputs = {input_.name: input_ for input_ in case.inputs}
        if inputs.keys() >= {input_ for input_ in case.node.inputs if input_ is not None}:
            declaration = case.declaration(case.op)
            violated = declaration.violations(declaration.named(case.operands(inputs)), case.node.attributes)
            expected = (f"{case.op}:{entry.expect.reject}",) if isinstance(entry.expect, Reject) else ()
            assert not violated or {*expected} & {*violated}, entry.id
            counts["valid" if not expected else "carried" if violated else "checked"] += 1

    assert counts["valid"] > len(suite.entries) / 9
    assert counts["carried"] > len(suite.entries) / 60
    assert counts["checked"] > len(suite.entries) / 60


def test_a_case_has_the_declarations_of_its_graph(few_core: Path) -> None:
    """Those of the neighbours too, and no others."""
    suite = open_suite(few_core)
    names = [entry.id for entry in suite.entries if entry.id.startswith("Split-1/")]
    for case in (asked(suite, name) for name in names):
        assert {declaration.name for declaration in case.declarations} == {node.op for node in case.graph.nodes}

    with pytest.raises(LookupError, match="the suite does not declare Concat-1"):
        asked(suite, names[0]).declaration("Concat-1")


def test_a_case_of_a_suite_has_no_declarations(small_suite: Path) -> None:
    """They are in `suite.json` alone, and nothing else may contradict it."""
    suite = open_suite(small_suite)
    document = json.loads(harness_text(suite.case(suite.entries[0]), suite.declarations))

    assert [declaration["name"] for declaration in document["declarations"]] == ["VariadicSplit-1"]
    with pytest.raises(ValidationError, match="Unexpected keyword argument"):
        case_from(document)
