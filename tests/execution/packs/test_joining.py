"""Models of several cases joined in one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.execution.packs.eligibility import Eligibility
from opconform_runners.execution.packs.errors import UnjoinableError
from opconform_runners.execution.packs.onnx_model import joined_onnx
from opconform_runners.execution.packs.openvino_ir import joined_openvino
from opconform_runners.execution.packs.pack import Member, Pack
from opconform_runners.harness.outcome import Returned

IR = (
    b'<net name="n" version="11"><layers><layer id="0" name="data" type="Parameter" version="opset1">'
    b'<data shape="2" element_type="f32"/><output><port id="0" precision="FP32" names="data"><dim>2</dim></port>'
    b'</output></layer><layer id="1" name="output_0" type="Result" version="opset1"><input><port id="0"><dim>2</dim>'
    b'</port></input></layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
)


#: A backend that reads the models.
READER = replace(Numpy().describe(), dialects=("openvino",))


def members_of(suite: Suite, implementation: Implementation, feeds: int) -> list[Member]:
    """The cases that may be packed, with so many feeds."""
    eligibility = Eligibility(suite=suite, implementation=implementation)
    members = [eligibility.member(entry) for entry in suite.entries]
    return [member for member in members if member is not None and member.case.feeds == feeds]


def test_weights_are_aligned_and_layers_numbered(splits: Suite) -> None:
    """The weights of each case begin at a multiple of 64 bytes, and no two layers have the same number or name."""
    members = members_of(splits, READER, 1)
    pack = Pack(members=tuple([x for x in members if x.entry.id.startswith("Split-1/packed/")][:3]))
    files = pack.model(splits)
    document = files["openvino/model.xml"].decode()
    numbers = [int(part.partition('"')[0]) for part in document.split('<layer id="')[1:]]
    offsets = [int(part.partition('"')[0]) for part in document.split(' offset="')[1:]]

    assert numbers == [*range(len(numbers))]
    assert offsets == [0, 64, 128]
    assert len(files["openvino/model.bin"]) == 128 + 8


@pytest.mark.parametrize(
    "xml",
    [
        IR.replace(b"<net ", b'<!DOCTYPE net [<!ENTITY a "b">]><net '),
        IR.replace(b"<edges>", b"<rt_info/><edges>"),
        IR.replace(b'from-layer="0"', b'from-layer="7"'),
        IR.replace(b"</output></layer>", b"</output><body/></layer>", 1),
        IR[:-3],
    ],
)
def test_other_irs_are_not_joined(xml: bytes) -> None:
    """What opconform does not write is executed alone, and no entity is expanded."""
    with pytest.raises(UnjoinableError):
        joined_openvino([("a_", {"m.xml": xml}), ("b_", {"m.xml": IR})], "m.xml")


def test_models_without_weights_are_joined() -> None:
    """They have no constants."""
    assert joined_openvino([("a_", {"m.xml": IR}), ("b_", {"m.xml": IR})], "m.xml")["m.bin"] == b""


def onnx_models() -> Sequence[Any]:
    """Two models that can be joined."""
    pytest.importorskip("onnx")
    from onnx import parser

    text = '<ir_version: 8, opset_import: ["": 18]> "m" (float[2] data) => (float[2] out) { out = Abs (data) }'
    return parser.parse_model(text), parser.parse_model(text)


def changed_versions(model: Any) -> None:
    """A model of another version of the operations."""
    model.opset_import[0].version = 17


def changed_metadata(model: Any) -> None:
    """A model that says more."""
    model.metadata_props.add(key="a", value="b")


def changed_graph(model: Any) -> None:
    """A node with a graph of its own."""
    model.graph.node[0].attribute.add(name="body", type=5).g.name = "inner"


def changed_sparse(model: Any) -> None:
    """A sparse constant."""
    model.graph.sparse_initializer.add()


@pytest.mark.parametrize("change", [changed_versions, changed_metadata, changed_graph, changed_sparse])
def test_other_onnx_models_are_not_joined(change: Any) -> None:
    """They are executed alone."""
    first, second = onnx_models()
    change(second)
    with pytest.raises(UnjoinableError):
        joined_onnx([("a_", {"m": first.SerializeToString()}), ("b_", {"m": second.SerializeToString()})], "m")


def test_what_is_no_model_is_not_joined() -> None:
    """A suite may come from a stranger."""
    first, _ = onnx_models()
    with pytest.raises(UnjoinableError):
        joined_onnx([("a_", {"m": first.SerializeToString()}), ("b_", {"m": b"\xff\xff"})], "m")


def test_a_pack_with_other_outputs_has_no_parts(splits: Suite) -> None:
    """Outputs that are missing cannot be told apart."""
    pack = Pack(members=tuple(members_of(splits, READER, 1)[:2]))
    count = len(pack.case.graph.outputs)
    right = Returned(outputs=((np.zeros(1),) * count,), element_types=(("f32",) * count,), seconds=None)

    assert pack.parts(right) is not None
    assert pack.parts(replace(right, outputs=((np.zeros(1),) * (count - 1),))) is None
    assert pack.parts(replace(right, element_types=(("f32",) * (count + 1),))) is None


def test_a_pack_has_a_name_that_its_cases_decide(splits: Suite) -> None:
    """In the form of an id, so that harnesses read it as that of a case."""
    members = members_of(splits, READER, 1)
    first, second = Pack(members=tuple(members[:4])), Pack(members=tuple(members[:5]))

    assert first.name == replace(first, is_suspect=True).name != second.name
    assert first.name.startswith("Split-1/pack/")
    assert first.named("node 'c2_Split' is refused: c2_data") == [2]
    assert first.named("node 'c2_Split' is refused: c1_data") == first.named("c4_Split") == first.named("x") == []
    assert second.named("not executed: c4_, c1_") == [1, 4]
    assert [len(part) for part in first.without([2])] == [2, 1, 1]
    assert second.without([1, 4]) == [(*members[:1], *members[2:4]), (members[1],), (members[4],)]
    assert [len(part) for part in first.halves] == [len(part) for part in first.quarters] == [1] * 4
