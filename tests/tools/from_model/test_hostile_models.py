"""Models that are damaged or hostile: one sentence each, and nothing outside the model is opened."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import UsageError
from opconform_runners.tools.from_model.models import node as limits
from opconform_runners.tools.from_model.models.ir_model import read_ir
from opconform_runners.tools.from_model.models.node import check_order
from opconform_runners.tools.from_model.models.onnx_model import read_onnx
from tests.conftest import Run
from tests.robustness.mutation import changed_bytes
from tests.tools.from_model.small_models import BEGINNING, SMALL, head, ir, layer, message, node, onnx, saved

ENTITIES = '<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def truncated(path: Path) -> None:
    """A model that ends in the middle."""
    path.write_bytes(saved(SMALL, path).read_bytes()[:-40])


def cyclic(path: Path) -> None:
    """Two nodes that take each other's outputs."""
    graph = node("Transpose", ["a"], ["b"]) + node("Relu", ["b"], ["a"])
    path.write_bytes(BEGINNING + message(7, graph + message(2, b"g")))


def cyclic_ir(path: Path) -> None:
    """Two layers that take each other's outputs."""
    layers = [layer(0, "Transpose", "i", "o"), layer(1, "Relu", "i", "o")]
    path.write_text(ir(layers, [(0, 1, 1, 0), (1, 1, 0, 0)]))


def crowded(path: Path) -> None:
    """A million nodes."""
    path.write_bytes(BEGINNING + message(7, node("Relu", ["a"], ["b"]) * 1_000_000 + message(2, b"g")))


def nested(path: Path) -> None:
    """A million nodes in small bodies, each of which is kept as it is."""
    body = message(1, message(4, b"R")) * 150
    attribute = message(1, b"then_branch") + message(6, body) + bytes([0xA0, 0x01, 0x05])
    one = message(1, message(4, b"If") + message(5, attribute))
    path.write_bytes(BEGINNING + message(7, one * 7_000 + message(2, b"g")))


def deep(path: Path) -> None:
    """Bodies inside bodies, deeper than protobuf allows."""
    graph = node("Relu", ["a"], ["b"])
    for _ in range(300):
        graph = message(1, message(4, b"If") + message(5, message(6, graph)))
    path.write_bytes(BEGINNING + message(7, graph))


MISTAKES: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "missing": ("m.onnx", lambda _: None, "m.onnx cannot be read: No such file or directory."),
    "folder": ("m.onnx", lambda path: path.mkdir(), "m.onnx cannot be read: it is not a regular file."),
    "pipe": ("m.xml", os.mkfifo, "m.xml cannot be read: it is not a regular file."),
    "other format": (
        "m.pt",
        lambda path: path.write_bytes(b"x"),
        "m.pt is neither MODEL.onnx nor MODEL.xml. Export the model to one of these formats.",
    ),
    "empty": (
        "m.onnx",
        lambda path: path.touch(),
        "m.onnx is not an ONNX model with nodes, or is truncated. Export it again.",
    ),
    "text": (
        "m.onnx",
        lambda path: path.write_text("a model, I promise"),
        "m.onnx is not an ONNX model with nodes, or is truncated. Export it again.",
    ),
    "truncated": ("m.onnx", truncated, "m.onnx is not an ONNX model with nodes, or is truncated. Export it again."),
    "deep": ("m.onnx", deep, "m.onnx is not an ONNX model with nodes, or is truncated. Export it again."),
    "fields without a number": (
        "m.onnx",
        lambda path: path.write_bytes(BEGINNING + message(7, node("Relu", ["a"], ["b"]) + b"\0\0" * (4 << 20))),
        "m.onnx is not an ONNX model with nodes, or is truncated. Export it again.",
    ),
    "a constant of negative size": (
        "m.xml",
        lambda path: (
            path.with_suffix(".bin").write_bytes(bytes(64)),
            path.write_text(
                ir(
                    [layer(0, "Const", "", "o", '<data offset="0" size="-1"/>'), layer(1, "Tile", "i", "o")],
                    [(0, 0, 1, 0)],
                )
            ),
        ),
        "m.xml is not OpenVINO's IR: a layer or an edge is malformed.",
    ),
    "no nodes": (
        "m.onnx",
        lambda path: path.write_bytes(BEGINNING),
        "m.onnx is not an ONNX model with nodes, or is truncated. Export it again.",
    ),
    "cycle": ("m.onnx", cyclic, "m.onnx has a cycle through the node 'b'. Export it again."),
    "million nodes": ("m.onnx", crowded, "m.onnx has more than 100,000 nodes. Read a part of it."),
    "million nested nodes": ("m.onnx", nested, "m.onnx has more than 100,000 nodes. Read a part of it."),
    "truncated XML": (
        "m.xml",
        lambda path: path.write_text(ir([layer(0, "Relu", "", "o")], [])[:-30]),
        "m.xml is not OpenVINO's IR: it is truncated, or not plain XML. Export it again.",
    ),
    "entities": (
        "m.xml",
        lambda path: path.write_text(ir([layer(0, "Relu", "", "o")], [], ENTITIES)),
        "m.xml is not OpenVINO's IR: it is truncated, or not plain XML. Export it again.",
    ),
    "other XML": ("m.xml", lambda path: path.write_text("<a/>"), "m.xml is not OpenVINO's IR: it has no layers."),
    "missing layer": (
        "m.xml",
        lambda path: path.write_text(ir([layer(1, "Tile", "i", "o")], [(0, 0, 1, 0)])),
        "m.xml is not OpenVINO's IR: a layer or an edge is malformed.",
    ),
    "XML cycle": ("m.xml", cyclic_ir, "m.xml has a cycle through the node 'Transpose'. Export it again."),
    "without weights": (
        "m.xml",
        lambda path: path.write_text(ir([layer(0, "Const", "", "o", '<data offset="0" size="16"/>')], [])),
        "m.bin is missing. Put the weights of m.xml beside it.",
    ),
}


@pytest.mark.parametrize(("name", "make", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_damaged_or_hostile_model_is_one_sentence(
    opconform: Run, tmp_path: Path, name: str, make: Callable[[Path], Any], sentence: str
) -> None:
    """The exit code is 2, and nothing is written."""
    make(tmp_path / name)

    done = opconform("from-model", name, "-o", "specs", cwd=tmp_path, code=2)

    assert done.stderr == f"error: {sentence}\n"
    assert not (tmp_path / "specs").exists()


def test_an_opset_that_the_onnx_package_does_not_know_is_said(opconform: Run, tmp_path: Path) -> None:
    """Its operations could mean something else."""
    saved(SMALL.replace(": 18", ": 999"), tmp_path / "m.onnx")

    done = opconform("from-model", "m.onnx", "-o", "specs", cwd=tmp_path, code=2)

    known = f"the installed onnx knows 1 to {onnx.defs.onnx_opset_version()}"
    assert done.stderr == f"error: m.onnx is of opset 999, and {known}. Update onnx, or export it again.\n"


def test_weights_of_three_gigabytes_are_skipped(tmp_path: Path) -> None:
    """The file is a sparse one, and larger than protobuf can parse."""
    size = 3 << 30
    tensor = bytes([0x08, 0x02, 0x10, 0x01]) + message(8, b"w") + head(9, size)
    nodes = node("Transpose", ["w"], ["o"], perm=[1, 0]) + message(2, b"g")
    graph = nodes + head(5, len(tensor) + size) + tensor
    path = tmp_path / "large.onnx"
    path.write_bytes(BEGINNING + head(7, len(graph) + size) + graph)
    os.truncate(path, path.stat().st_size + size)

    begun = time.monotonic()
    [read] = read_onnx(path)

    assert read.type == "Transpose"
    assert time.monotonic() - begun < 20


def test_external_data_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither beside the model nor outside its folder: the values are not known."""
    model = onnx.parser.parse_model(SMALL)
    for tensor, place in zip(model.graph.initializer, ("../../etc/passwd", "/dev/zero", "weights.bin"), strict=True):
        tensor.ClearField("int64_data")
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=place)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    monkeypatch.setattr(onnx.external_data_helper, "load_external_data_for_tensor", lambda *_: pytest.fail("opened"))

    sliced = next(read.call for read in read_onnx(tmp_path / "m.onnx") if read.type == "Slice")

    assert sliced is not None
    assert [sliced.inputs[port].elements for port in ("start", "stop", "axes")] == [None, None, None]


def test_a_constant_beyond_the_end_of_the_weights_is_said(opconform: Run, tmp_path: Path) -> None:
    """Its offset is checked by the read, and no other file is read instead."""
    data = '<data element_type="f32" shape="4" offset="1000" size="16"/>'
    layers = [layer(0, "Const", "", "o", data), layer(1, "Tile", "i", "o")]
    (tmp_path / "m.xml").write_text(ir(layers, [(0, 0, 1, 0)]))
    (tmp_path / "m.bin").write_bytes(bytes(16))

    done = opconform("from-model", "m.xml", "-o", "specs", cwd=tmp_path, code=2)

    assert done.stderr == "error: m.bin is truncated: it lacks the constant at 1000.\n"


def test_too_many_different_calls_are_refused(opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for valid arguments takes time."""
    monkeypatch.setattr("opconform_runners.tools.from_model.uses._MOST", 1)
    saved(SMALL, tmp_path / "m.onnx")

    done = opconform("from-model", "m.onnx", "-o", "specs", cwd=tmp_path, code=2)

    assert done.stderr == "error: m.onnx uses operations in more than 1 ways. Read a part of it.\n"


def test_what_a_model_has_besides_its_weights_is_limited(
    opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long names cannot take more memory than the limit."""
    monkeypatch.setattr("opconform_runners.tools.from_model.models.onnx_file.STRUCTURE_LIMIT", 1 << 20)
    graph = node("Relu", ["a" * 600], ["b"]) * 2_000 + message(2, b"g")
    (tmp_path / "m.onnx").write_bytes(BEGINNING + message(7, graph))
    assert limits.STRUCTURE_LIMIT == 64 << 20

    done = opconform("from-model", "m.onnx", "-o", "specs", cwd=tmp_path, code=2)

    assert done.stderr == "error: m.onnx has more than 1 MiB besides its weights. Read a part of it.\n"


def test_names_that_are_not_text_are_escaped(opconform: Run, tmp_path: Path) -> None:
    """Protobuf does not check them."""
    graph = message(1, message(1, b"a") + message(2, b"b") + message(3, b"n\xff") + message(4, b"Own\xfe"))
    (tmp_path / "m.onnx").write_bytes(BEGINNING + message(7, graph + message(2, b"g")))

    done = opconform("from-model", "m.onnx", "-o", "specs", cwd=tmp_path)

    assert done.stdout.splitlines()[1] == "  no counterpart: Own\\xfe 1"


@pytest.mark.parametrize("suffix", [".onnx", ".xml"])
def test_a_changed_model_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    """Whatever bytes are changed, the nodes are read, or the error is one that is meant for people."""
    path = tmp_path / f"model{suffix}"
    if suffix == ".onnx":
        content = saved(SMALL, path).read_bytes()
    else:
        data = '<data element_type="f32" shape="4" offset="0" size="16"/>'
        layers = [layer(0, "Const", "", "o", data), layer(1, "Tile", "ii", "o"), layer(2, "Relu", "i", "o")]
        content = ir(layers, [(0, 0, 1, 0), (0, 0, 1, 1), (1, 2, 2, 0)]).encode()
        path.with_suffix(".bin").write_bytes(bytes(16))
    source, refused = random.Random(7), 0  # noqa: S311
    for _ in range(400):
        path.write_bytes(changed_bytes(source, content))
        try:
            check_order(read_onnx(path) if suffix == ".onnx" else read_ir(path), path.name)
        except UsageError:
            refused += 1

    assert 0 < refused < 400


@pytest.mark.parametrize(
    ("kind", "inputs", "attributes", "reason"),
    [
        ("LayerNormalization", ["x", "s"], {"epsilon": float("inf")}, "with an infinity or a NaN as eps"),
        ("Clip", ["x"], {"min": float("nan")}, "with an infinity or a NaN as min"),
        ("Abs", ["z"], {}, "with a dimension that is too large"),
        ("Concat", ["w", "w"], {"axis": 0}, "with a dimension that is too large"),
    ],
)
def test_a_node_with_numbers_that_no_case_can_have_is_not_read(
    opconform: Run, tmp_path: Path, kind: str, inputs: list[str], attributes: dict[str, Any], reason: str
) -> None:
    """Neither an infinity nor dimensions whose product no integer of numpy holds; onnx follows no long lists."""
    shapes = {"x": [2, 3], "s": [3], "z": [1 << 62, 1 << 62], "w": [1 << 40]}
    values = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    output = onnx.helper.make_tensor_value_info("y", 1, None)
    nodes = [onnx.helper.make_node(kind, inputs, ["y"], **attributes)]
    opset = onnx.helper.make_opsetid("", 10 if kind == "Clip" else 18)
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", values, [output]), opset_imports=[opset])
    onnx.save(model, tmp_path / "m.onnx")
    done = opconform("from-model", "m.onnx", "-o", "specs", cwd=tmp_path)

    assert f"not read: 1 node: {kind}, {reason}\n" in done.stdout
