"""The reading of models: every rendered case reads back as the operation that it calls."""

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from opconform.dialects.onnx.operations import RENDERINGS
from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute, Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform_runners.tools.from_model.models.ir_model import read_ir
from opconform_runners.tools.from_model.models.node import Call, Known
from opconform_runners.tools.from_model.models.onnx_model import read_onnx
from opconform_runners.tools.from_model.models.onnx_operations import counterparts
from tests.tools.from_model.small_models import SMALL, saved

#: One in so many cases is read.
SAMPLE = 6
#: What ONNX does not have, or writes otherwise: rules of broadcasting, modes of its Expand, negative axes and batches, rounded
#: limits, and an attribute.
OTHERWISE = (
    *("auto_broadcast", "m_pythondiv", "mode", "batch_axis", "seq_axis", "batch_dims", "axis", "use_init_val"),
    *("stable", "min", "max"),
)

#: The operations of which ONNX takes an input of another shape, or with a scale behind them.
RESHAPED = ("GroupConvolution-1", "MVN-6", "PReLU-1")

#: A tensor as it is declared: its element type, its dimensions with None for unknown ones, and whether it is a constant.
Declared = tuple[str, tuple[int | None, ...] | None, bool]


def sampled(suite: Suite, name: str) -> Iterator[tuple[Entry, Case]]:
    """Some valid cases of operations that have a file."""
    for entry in suite.entries:
        if name in entry.files and entry.expect == "accept" and zlib.crc32(entry.id.encode()) % SAMPLE == 0:
            case = suite.case(entry)
            if not case.tests_graph and case.node == next(
                node for node in case.graph.nodes if node.op == case.op
            ):  # and not behind another one
                yield entry, case


def is_otherwise_in_onnx(case: Case) -> bool:
    """Whether ONNX has another node for what an attribute does or in front, or no place for what is ignored.

    Its scale of attention is an attribute, and its two ways to round up are one.
    """
    given = case.attributes
    is_transposed = given.get("transpose_a") is True or given.get("transpose_b") is True
    pads = [given.get(name) for name in ("pads_begin", "pads_end")]
    has_mode = given.get("auto_pad", "explicit") != "explicit"
    is_ignored = has_mode and any(isinstance(x, tuple) and any(x) for x in pads)
    if case.op == "ScaledDotProductAttention-13":
        ports = written(case)
        return given["causal"] is True or "scale" in ports or ports.get("attention_mask", ("", None, False))[1] == ()
    is_rounded = given.get("rounding_type") == "ceil_torch" or (has_mode and given.get("rounding_type") == "ceil")
    return case.op in RESHAPED or is_transposed or is_ignored or is_rounded


def written(case: Case) -> dict[str, Declared]:
    """The inputs of the model that the node under test takes, by port."""
    inputs = {item.name: item for item in case.inputs}
    named = OPERATIONS[case.op].declaration.named(case.node.inputs)
    declared = {}
    for port, name in named.items():
        if (item := inputs.get(name)) is not None:
            shape = item.shape if item.dynamic is None else item.dynamic
            sizes = None if isinstance(shape, str) else tuple(x if isinstance(x, int) else None for x in shape)
            declared[port] = (item.element_type, sizes, item.binding == "constant")
    return declared


def read_back(known: Known) -> Declared:
    """A tensor that was read, as it is declared."""
    sizes = known.dimensions
    known_sizes = None if sizes is None else tuple(x if isinstance(x, int) else None for x in sizes)
    return known.element_type, known_sizes, known.is_constant


def attributes(op: str, given: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """The attributes of an operation with their defaults."""
    return OPERATIONS[op].arguments({}, given).attributes


def calls_of(path: Path, op: str) -> list[Call]:
    """The calls of an operation in a model."""
    nodes = read_ir(path) if path.suffix == ".xml" else read_onnx(path)
    return [node.call for node in nodes if node.call is not None and node.call.op == op]


def test_the_ir_of_a_case_reads_back_as_its_own_use(any_core: Path) -> None:
    """The operation, its attributes, and the types, dimensions and bindings of its inputs."""
    suite, count = open_suite(any_core), 0
    for entry, case in sampled(suite, "openvino/model.xml"):
        call = next(iter(calls_of(any_core / entry.id / "openvino/model.xml", case.op)))
        taken = written(case)
        assert attributes(case.op, call.attributes) == attributes(case.op, case.attributes), entry.id
        assert {port: read_back(call.inputs[port]) for port in taken} == taken, entry.id
        count += 1
    assert count > len(suite.entries) / 20


def test_the_onnx_model_of_a_case_reads_back_as_its_own_use(any_core: Path) -> None:
    """The same, but for what is an attribute in ONNX, and for what ONNX does not have."""
    suite, count = open_suite(any_core), 0
    for entry, case in sampled(suite, "onnx/model.onnx"):
        if case.op not in (*counterparts().values(), "Split-1") or is_otherwise_in_onnx(case):
            continue  # an older version of an operation, or other nodes
        call = next(iter(calls_of(any_core / entry.id / "onnx/model.onnx", case.op)))
        in_attributes, joined = RENDERINGS[case.op].attributes, ("pads_begin", "pads_end")
        taken = {port: x for port, x in written(case).items() if port not in (*in_attributes, *joined)}
        if "split_lengths" in taken:  # a -1 is replaced
            taken["split_lengths"] = read_back(call.inputs["split_lengths"])
        both = [attributes(case.op, given) for given in (call.attributes, case.attributes)]
        compared = [{name: x for name, x in of.items() if name not in OTHERWISE} for of in both]
        assert compared[0] == compared[1], entry.id
        assert {port: read_back(call.inputs[port]) for port in taken} == taken, entry.id
        count += 1
    assert count > len(suite.entries) / 50


@pytest.mark.parametrize(
    ("opset", "lines", "expected"),
    [
        (9, "o = Slice<starts = [1], ends = [3], axes = [1]>(x)", ("Slice-8", {"start": (1,), "step": (1,)})),
        (18, "o = Slice(x, two, six)", ("Slice-8", {"start": (2,), "stop": (6,), "step": (1,)})),
        (11, "o, p = Split<axis = 1, split = [2, 4]>(x)", ("VariadicSplit-1", {"axis": (1,), "split_lengths": (2, 4)})),
        (13, "o, p = Split<axis = 1>(x, both)", ("VariadicSplit-1", {"split_lengths": (2, 6)})),
        (18, "o, p = Split<axis = 1, num_outputs = 2>(x)", ("Split-1", {"axis": (1,)})),
        (18, "o, p, q, r = Split<axis = 1, num_outputs = 4>(x)", ("VariadicSplit-1", {"split_lengths": (2, 2, 2, 0)})),
        (11, "o = Squeeze<axes = [0]>(x)", ("Squeeze-1", {"axes": (0,)})),
        (13, "o = Unsqueeze(x, two)", ("Unsqueeze-1", {"axes": (2,)})),
        (
            9,
            'o = Pad<mode = "reflect", pads = [0, 1, 0, 2]>(x)',
            ("Pad-12", {"pads_begin": (0, 1), "pads_end": (0, 2)}),
        ),
        (18, "o = Gather<axis = -1>(x, two)", ("Gather-8", {"indices": (2,), "axis": (-1,)})),
        (10, "o = Scatter<axis = 1>(x, where, x)", ("ScatterElementsUpdate-12", {"axis": (1,)})),
        (18, "o = Transpose(x)", ("Transpose-1", {"input_order": ()})),
        (13, "o = ReduceSum(x)", ("ReduceSum-1", {"axes": (0, 1)})),
        (13, "o = ReduceSum(x, two)", ("ReduceSum-1", {"axes": (2,)})),
        (11, "o = ReduceMean<axes = [1]>(x)", ("ReduceMean-1", {"axes": (1,)})),
        (11, "o, p = TopK(x, two)", ("TopK-11", {"k": (2,)})),
        (11, "o = Range(two, six, two)", ("Range-4", {"start": (2,), "stop": (6,), "step": (2,)})),
        (18, "o = MaxPool<kernel_shape = [2], pads = [1, 0], ceil_mode = 1>(x)", ("MaxPool-14", {})),
        (11, "o = AveragePool<kernel_shape = [2], pads = [1, 0], count_include_pad = 1>(x)", ("AvgPool-14", {})),
    ],
    ids=lambda value: value.partition("(")[0] if isinstance(value, str) else None,
)
def test_operations_of_every_opset_are_read(
    tmp_path: Path, opset: int, lines: str, expected: tuple[str, dict[str, tuple[int, ...]]]
) -> None:
    """Settings are attributes in older opsets and inputs in newer ones."""
    values = "<int64[1] two = {2}, int64[1] six = {6}, int64[2] both = {2, 6}>"
    header = f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[1, 6] x, int64[1, 6] where) => (float[?, ?] o)'
    [node] = read_onnx(saved(f"{header} {values} {{ {lines} }}", tmp_path / "model.onnx"))

    assert node.call is not None, node.reason
    assert node.call.op == expected[0]
    assert {port: node.call.inputs[port].elements for port in expected[1]} == expected[1]


@pytest.mark.parametrize(("opset", "scales"), [(21, 6), (18, 2)])
def test_groups_are_normalized_with_a_scale_per_channel(tmp_path: Path, opset: int, scales: int) -> None:
    """Before opset 21, the scale was one per group."""
    inputs = f"float[2, 6, 4] x, float[{scales}] s, float[{scales}] b"
    header = f'<ir_version: 10, opset_import: ["" : {opset}]> g ({inputs}) => (float[2, 6, 4] o)'
    line = "o = GroupNormalization<num_groups = 2, epsilon = 0.5>(x, s, b)"
    [node] = read_onnx(saved(f"{header} {{ {line} }}", tmp_path / "model.onnx"))

    if opset == 18:
        assert (node.call, node.reason) == (None, "with a scale and a bias per group")
        return
    assert node.call is not None
    assert (node.call.op, node.call.attributes) == ("GroupNormalization-12", {"num_groups": 2, "epsilon": 0.5})
    assert node.call.inputs["scale"].dimensions == (6,)


def test_what_has_no_counterpart_is_listed_with_its_reason(tmp_path: Path) -> None:
    """Other operations by their type, and a mode or an attribute that the counterpart lacks by a reason."""
    header = '<ir_version: 10, opset_import: ["" : 19, "mine" : 1]> g (float[2, 6] x) => (float[?, ?] o)'
    lines = 'a = Selu(x) b = mine.Own(a) c = Shape<start = 1>(x) p = Pad<mode = "wrap">(x, pads) o = AveragePool<kernel_shape = [2], dilations = [2]>(p)'
    path = saved(f"{header} <int64[4] pads = {{0, 1, 0, 1}}> {{ {lines} }}", tmp_path / "model.onnx")

    assert [(node.type, node.call, node.reason) for node in read_onnx(path)] == [
        ("Selu", None, ""),
        ("mine.Own", None, ""),
        ("Shape", None, "of some dimensions only"),
        ("Pad", None, "the mode wrap"),
        ("AveragePool", None, "with dilations"),
    ]


def test_bodies_are_read_with_the_tensors_around_them(tmp_path: Path) -> None:
    """The branches of an If take tensors of the graph around them."""
    text = """
    <ir_version: 8, opset_import: ["" : 18]> g (bool yes, float[2, 3] x) => (float[?, ?] o) {
        o = If (yes) <
            then_branch = t () => (float[3, 2] a) { a = Transpose<perm = [1, 0]>(x) },
            else_branch = e () => (float[3, 2] a) { b = Relu(x) a = Transpose<perm = [1, 0]>(b) }
        >
    }
    """
    nodes = read_onnx(saved(text, tmp_path / "model.onnx"))

    assert [node.type for node in nodes] == ["If", "Transpose", "Relu", "Transpose"]
    assert nodes[1].call is not None
    assert nodes[1].call.inputs["arg"].dimensions == (2, 3)
    assert nodes[3].inputs == nodes[2].outputs


def test_the_nodes_of_functions_are_not_read(tmp_path: Path) -> None:
    """The call of a function is listed like any other operation without a counterpart."""
    text = """
    <ir_version: 8, opset_import: ["" : 18, "mine" : 1]> g (float[2, 3] x) => (float[?, ?] o) { o = mine.Turn(x) }
    <domain: "mine", opset_import: ["" : 18]> Turn (x) => (y) { y = Transpose(x) }
    """
    assert [node.type for node in read_onnx(saved(text, tmp_path / "model.onnx"))] == ["mine.Turn"]


def test_an_unknown_dimension_has_the_same_name_wherever_it_is_the_same(tmp_path: Path) -> None:
    """A symbol of the model; other unknown dimensions have names of their own."""
    nodes = read_onnx(saved(SMALL, tmp_path / "small.onnx"))
    inputs = nodes[0].call.inputs if nodes[0].call else {}

    assert [known.dimensions for known in inputs.values()] == [("N", 64, 160), ("N", 64, 160)]
