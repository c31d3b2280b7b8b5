"""OpenVINO IR of several cases in one model: layers renumbered, names prefixed, weights one after the other."""

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from opconform_runners.execution.packs.errors import UnjoinableError

#: The weights of each case begin at a multiple of this, as in an IR that OpenVINO writes.
_ALIGNMENT = 64


def joined_openvino(models: Sequence[tuple[str, Mapping[str, bytes]]], main: str) -> dict[str, bytes]:
    """The files of one model, `main` and its weights, given the files of each model and the prefix of its names."""
    weights_name = f"{main.removesuffix('.xml')}.bin"
    net: ET.Element | None = None
    weights = bytearray()
    for prefix, files in models:
        part = _parsed(files[main])
        weights += b"\0" * (-len(weights) % _ALIGNMENT)
        _rename(part, prefix, first=0 if net is None else len(_child(net, "layers")), offset=len(weights))
        weights += files.get(weights_name, b"")
        if net is None:
            net = part
            continue
        for name in ("layers", "edges"):
            _child(net, name).extend(_child(part, name))
    if net is None:
        raise UnjoinableError("there are no models")
    return {main: ET.tostring(net, encoding="utf-8", xml_declaration=True), weights_name: bytes(weights)}


def _parsed(xml: bytes) -> ET.Element:
    if b"<!" in xml:
        raise UnjoinableError("an IR has declarations or comments, which opconform does not write")
    try:
        net = ET.fromstring(xml)  # noqa: S314 - it declares no entities
    except ET.ParseError as error:
        raise UnjoinableError(f"an IR is not XML: {error}") from error
    if [child.tag for child in net] != ["layers", "edges"]:
        raise UnjoinableError("an IR has more than layers and edges")
    return net


def _child(net: ET.Element, name: str) -> ET.Element:
    child = net.find(name)
    if child is None:
        raise UnjoinableError(f"an IR has no {name}")
    return child


def _rename(net: ET.Element, prefix: str, *, first: int, offset: int) -> None:
    """Number the layers from `first`, prefix the names of layers and tensors, and move the weights by `offset`."""
    numbers: dict[str | None, str] = {}
    for number, layer in enumerate(_child(net, "layers"), first):
        if layer.find("body") is not None:
            raise UnjoinableError("a layer has a body")
        numbers[layer.get("id")] = str(number)
        layer.set("id", str(number))
        layer.set("name", f"{prefix}{layer.get('name')}")
        data = layer.find("data")
        if data is not None and layer.get("type") == "Const":
            data.set("offset", str(int(data.get("offset", "0")) + offset))
        for port in layer.iter("port"):
            if (names := port.get("names")) is not None:
                port.set("names", ",".join(f"{prefix}{name}" for name in names.split(",")))
    for edge in _child(net, "edges"):
        for end in ("from-layer", "to-layer"):
            if edge.get(end) not in numbers:
                raise UnjoinableError("an edge of an IR names no layer")
            edge.set(end, numbers[edge.get(end)])
