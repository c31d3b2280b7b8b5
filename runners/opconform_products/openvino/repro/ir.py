"""OpenVINO's IR of a case in the source of a script or a test."""

import re
import textwrap
from collections.abc import Mapping

from opconform_runners.tools.repro.graph_source import text_source

_WIDTH = 112


def ir_source(files: Mapping[str, bytes]) -> Mapping[str, object]:
    """The IR as a literal, and the lines of its weights in hexadecimal digits."""
    return {
        "xml": text_source(short_ir(files.get("openvino/model.xml", b"").decode())),
        "weights": textwrap.wrap(files.get("openvino/model.bin", b"").hex(), _WIDTH),
    }


def short_ir(xml: str) -> str:
    """An IR with a single port on one line."""
    xml = re.sub(r"(?<!\s)\s+(?=<dim>)|(?<=</dim>)\s+", "", xml)
    return re.sub(r"(<(input|output)>)\s+(<port [^\n]*)\n\s*(?=</\2>)", r"\1\3", xml)
