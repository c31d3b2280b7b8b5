"""The names in a suite, each with a pattern, and the texts that are one line.

A suite may come from a stranger. Names become part of scripts, models, builds and pages, so that a reader refuses a
name that is more than a name. Texts, such as the text of a requirement, have no pattern: whatever shows one quotes it.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from opconform.tensors.element_types import ELEMENT_TYPES

#: The most characters of a lower-case name, of another name, and of a text on one line.
_WORDS, _NAME, _LONGEST = 80, 200, 1_000
_KEBAB = r"[a-z0-9]+(-[a-z0-9]+)*"
_OP = r"[A-Za-z][A-Za-z0-9]*-[0-9]+"
_ID = rf"{_OP}/{_KEBAB}/[0-9a-f]{{10}}"
_NODE = r"[A-Za-z_][A-Za-z0-9_]*"
#: A lower-case name, as in `zero-length`.
KEBAB = f"^{_KEBAB}$"
#: An operation with its version, as in `Split-1`.
OPERATION = f"^{_OP}$"
#: The id of a requirement, as in `axis.range`.
REQUIREMENT = r"^[a-z0-9_]+([.-][a-z0-9_]+)*$"
#: A requirement, or one of an operation with the nodes of a graph, as in `Convert-1:floats.clamped@third`.
READING = rf"{REQUIREMENT}|^{_OP}:{REQUIREMENT[1:-1]}@(\*|{_NODE}(\+{_NODE})*)$"
#: A tensor, a node, an input or an attribute, as in `block_shape`.
IDENTIFIER = f"^{_NODE}$"
#: A file in the folder of a case.
FILE = r"^([A-Za-z0-9_-][A-Za-z0-9_.-]*/){0,2}[A-Za-z0-9_-][A-Za-z0-9_.-]*$"
#: One line of text, without control characters.
LINE = r"^[^\x00-\x1f\x7f-\x9f]+$"
#: A public report of a bug: a tracker's thread, as in `apache/tvm#1595`, or a CVE number; or the name of a compiler's
#: rewrite of graphs, as in `openvinotoolkit/openvino:ConvMulFusion`.
SEEN = r"^([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(#[0-9]+|:[A-Za-z0-9_.:-]+)|CVE-[0-9]{4}-[0-9]+)$"
#: A dimension that the IR declares: static, `?`, or bounded as in `2..8`.
DIMENSION = r"^(\?|[0-9]{1,18}\.\.[0-9]{1,18})$"

Kebab = Annotated[str, Field(pattern=KEBAB, max_length=_WORDS)]
OperationName = Annotated[str, Field(pattern=OPERATION, max_length=_NAME)]
RequirementId = Annotated[str, Field(pattern=REQUIREMENT, max_length=_NAME)]
#: A requirement whose other reading decides a result, as in `floats.clamped`; or in a graph under test, also the
#: operation, and the nodes that are read otherwise, as in `Convert-1:floats.clamped@first+third`, or `@*` for many.
ReadingName = Annotated[str, Field(pattern=READING, max_length=_LONGEST)]
Identifier = Annotated[str, Field(pattern=IDENTIFIER, max_length=_NAME)]
Line = Annotated[str, Field(pattern=LINE, max_length=_LONGEST)]
Seen = Annotated[str, Field(pattern=SEEN, max_length=_NAME)]
Dimension = Annotated[int, Field(strict=True, ge=0)] | Annotated[str, Field(pattern=DIMENSION)]
ProfileName = Kebab
#: A file in the folder of a case, as in `openvino/model.xml`.
FileName = Annotated[str, Field(pattern=FILE, max_length=_NAME)]
CaseId = Annotated[str, Field(pattern=f"^{_ID}$")]
#: The id of a case, or of the neighbour check of one.
IdOrNeighbourCheck = Annotated[str, Field(pattern=f"^{_ID}(/neighbour-check)?$")]
#: A group of an operation, as in `Split-1/axis`.
GroupName = Annotated[str, Field(pattern=f"^{_OP}/{_KEBAB}$")]
#: A spec file of an operation, as in `Split-1/axis.yaml`.
SpecName = Annotated[str, Field(pattern=rf"^{_OP}/[^/\x00-\x1f\x7f-\x9f]+$", max_length=_LONGEST)]
#: A version of opconform or of a suite, as in `2.0.0`.
VersionName = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+!_-]*$", max_length=_NAME)]


def _known(name: str) -> str:
    if name not in ELEMENT_TYPES:
        raise ValueError(f"{name!r} is not an element type")
    return name


ElementTypeName = Annotated[str, AfterValidator(_known)]
