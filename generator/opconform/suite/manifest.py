"""The manifest of a suite: `suite.json`, and `manifest.jsonl` with one line per case."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.errors import SuiteError
from opconform.suite.case import Reject, canonical_json
from opconform.suite.declarations import Declaration, declaration_document
from opconform.suite.names import (
    CaseId,
    FileName,
    GroupName,
    Kebab,
    Line,
    OperationName,
    ProfileName,
    ReadingName,
    RequirementId,
    SpecName,
    VersionName,
)

#: The folder of a case's neighbour check, inside the case's folder.
NEIGHBOUR_CHECK = "neighbour-check"
#: The version of the format.
FORMAT: Final = 2

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Level = Literal["normative", "interpretation"]
#: The stages of comparing outputs, in order. `value-1` is `value` for the second output alone, `open` a difference in
#: elements that other readings have otherwise, `node` one of a graph of which a node fails alone, `reading` one that
#: another reading of a node gives, `nan-payload` one between two NaNs only, and `rounding` one of results
#: within the bounds of reduced arithmetic.
Stage = Literal[
    "count",
    "element-type",
    "shape",
    "value",
    "value-1",
    "value-2",
    "value-3",
    "open",
    "node",
    "reading",
    "bits",
    "rounding",
    "nan-payload",
]
#: The stages of single outputs, from the second one on.
OUTPUT_STAGES: Final[tuple[Stage, ...]] = ("value-1", "value-2", "value-3")


@dataclass(frozen=True, kw_only=True, slots=True)
class RequirementNote:
    """The level and the text of a requirement, for reports, and whether a case can violate it.

    `profiles` are those in which the specs have cases for it, also where the suite has only some of them.
    """

    level: Level
    text: str
    violable: bool = False
    profiles: tuple[ProfileName, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """`suite.json`.

    Attributes:
        version: The suite's own version: major for the format or a verdict's meaning, minor for cases, patch for texts.
        generator: The version of opconform that wrote the suite.
        recipe: The SHA-256 of what decides the bytes besides the specs: modules, templates, seed, dialects.
        dialects: The model file of each dialect, relative to a case's folder.
        specs: The SHA-256 of each spec file, by name.
        specification: The revisions of the specification's pages, by operation.
        requirements: By operation and id.
        declarations: The inputs and attributes of the operations, with their constraints.
        establishes: The requirements that are shown to be met when a comparison passes a stage, by operation and stage.
        counts: How many cases are accepted and how many are rejected.
        cases: How many cases there are, by operation and profile.
        uses: By group, as in `Split-1/axis`, the uses in models that its cases stand for, and how many nodes have each;
            absent if there are none.
        left_out: How many cases have no model in a dialect, by dialect and reason; absent if there are none.
        select: The patterns that selected the cases; absent from a suite of whole profiles.
        profiles: The selected profiles, if one is a list of cases (`quick`); absent from a suite of whole profiles.
        part_of: The digest of the suite whose cases were streamed, of which this suite has some; absent from any other.
        digest: The SHA-256 of the manifest: the suite digest.
        checksum: The SHA-256 of this document without this key, in canonical JSON.
    """

    __pydantic_config__ = _STRICT

    format: Literal[2] = FORMAT
    version: VersionName
    generator: VersionName
    recipe: _Digest
    seed: int
    blind: bool
    dialects: Mapping[Kebab, FileName]
    specs: Mapping[SpecName, _Digest]
    specification: Mapping[OperationName, tuple[Line, ...]]
    requirements: Mapping[OperationName, Mapping[RequirementId, RequirementNote]]
    establishes: Mapping[OperationName, Mapping[Stage, tuple[RequirementId, ...]]]
    declarations: tuple[Declaration, ...]
    counts: Mapping[Annotated[str, Field(pattern="^(accept|reject)$")], int]
    cases: Mapping[OperationName, Mapping[ProfileName, int]]
    digest: _Digest
    uses: Mapping[GroupName, Mapping[Kebab, int]] = field(default_factory=dict)
    left_out: Mapping[Kebab, Mapping[str, int]] = field(default_factory=dict)
    select: tuple[str, ...] = ()
    profiles: tuple[ProfileName, ...] = ()
    part_of: _Digest | Literal[""] = ""
    checksum: str = ""

    @property
    def identity(self) -> str:
        """The digest that results name: the one of the suite that was run, if this one has only some of its cases."""
        return self.part_of or self.digest

    @property
    def is_selection(self) -> bool:
        """Whether the suite has only some of the cases of its profiles."""
        return bool(self.select or self.profiles)


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherReadings:
    """The interpretations that decide how a valid case ends, by the other readings that are legitimate.

    Attributes:
        reject: The interpretations whose other reading rejects the case.
        outputs: The interpretations whose other readings give other outputs, by the SHA-256 of these outputs.
        elements: The interpretations whose other readings give other elements, which the expected outputs have.

    In a graph under test, a name has the operation and the nodes that are read otherwise.
    """

    __pydantic_config__ = _STRICT

    reject: tuple[ReadingName, ...] = ()
    outputs: Mapping[_Digest, tuple[ReadingName, ...]] = field(default_factory=dict)
    elements: tuple[ReadingName, ...] = ()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.reject or self.outputs or self.elements)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A line of `manifest.jsonl`: one case, and the SHA-256 of each file in its folder.

    `left_out` has the reason for each dialect that cannot express the case; it is absent when empty.
    `essential` is true if every backend of the operation must support the case; it is absent when false.
    `readings` has the interpretations that decide how the case ends; it is absent when there are none.
    """

    __pydantic_config__ = _STRICT

    id: CaseId
    profile: ProfileName
    requirements: tuple[RequirementId, ...]
    expect: Literal["accept"] | Reject
    twin: CaseId | None
    files: Mapping[FileName, _Digest]
    left_out: Mapping[Kebab, str] = field(default_factory=dict)
    essential: bool = False
    readings: OtherReadings = field(default_factory=OtherReadings)

    @property
    def op(self) -> str:
        """The operation, as in `Split-1`."""
        return self.id.split("/", 1)[0]

    @property
    def neighbour_check(self) -> "Entry | None":
        """The case's neighbour check, if it has one, as an entry of its own, which no manifest lists."""
        inside = f"{NEIGHBOUR_CHECK}/"
        files = {name.removeprefix(inside): file for name, file in self.files.items() if name.startswith(inside)}
        if not files:
            return None
        identity = f"{self.id}/{NEIGHBOUR_CHECK}"
        return Entry(id=identity, profile=self.profile, requirements=(), expect="accept", twin=None, files=files)


_HEADER = TypeAdapter(Header)
_ENTRY = TypeAdapter(Entry)


def cases_by_profile(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Counts of pairs of an operation and a profile, by operation and profile, sorted."""
    counted: dict[str, dict[str, int]] = {}
    for (op, profile), count in sorted(counts.items()):
        counted.setdefault(op, {})[profile] = count
    return counted


def reasons_by_dialect(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Counts of pairs of a dialect and a reason, by dialect and reason; the most frequent reasons first."""
    counted: dict[str, dict[str, int]] = {name: {} for name in sorted({name for name, _ in counts})}
    for (name, reason), count in sorted(counts.items(), key=lambda x: (-x[1], x[0])):
        counted[name][reason] = count
    return counted


def header_text(header: Header) -> str:
    """`suite.json` with its checksum renewed."""
    absent = {
        "checksum",
        *(name for name in ("uses", "left_out", "select", "profiles", "part_of") if not getattr(header, name)),
    }
    document = _HEADER.dump_python(header, mode="json", exclude={*absent, "declarations"})
    return sealed_text(document | {"declarations": [*map(declaration_document, header.declarations)]})


def sealed_text(document: Mapping[str, object]) -> str:
    """A JSON document with its checksum: the SHA-256 of the canonical JSON without the checksum."""
    checksum = hashlib.sha256(canonical_json(document).encode()).hexdigest()
    return json.dumps({**document, "checksum": checksum}, indent=1, ensure_ascii=False) + "\n"


@lru_cache(maxsize=16)
def header_of(content: bytes, where: str) -> Header:
    """The header that `suite.json` holds; `SuiteError` if `generate` did not write it in this form."""
    try:
        header = _HEADER.validate_json(content)
    except ValidationError as error:
        is_old = any(x["loc"] == ("format",) and x["input"] == 1 for x in error.errors(include_url=False))
        why = " is of suite format 1, which is no longer read." if is_old else f": {first_error(error)}."
        raise SuiteError(f"{where}{why} Generate the suite again.") from error
    if header_text(header).encode() != content:
        raise SuiteError(
            f"{where} was changed after it was written, or is of another build of opconform. Generate the suite again."
        )
    return header


def entry_line(entry: Entry) -> str:
    """The manifest's line of a case, including its newline."""
    absent = {name: True for name in ("left_out", "essential", "readings") if not getattr(entry, name)}
    empty = {} if entry.readings.elements else {"readings": {"elements": True}}
    return canonical_json(_ENTRY.dump_python(entry, mode="json", exclude={**empty, **absent})) + "\n"


def entry_of(line: bytes, where: str) -> Entry:
    """The case that a line of a manifest lists; `SuiteError` if it breaks the format."""
    try:
        return _ENTRY.validate_json(line)
    except ValidationError as error:
        raise SuiteError(f"{where} is not a line of a manifest: {first_error(error)}.") from error


def inputs_name(feed: int) -> str:
    """The file of a feed's inputs: `inputs.npz`, then `inputs.1.npz`."""
    return "inputs.npz" if feed == 0 else f"inputs.{feed}.npz"


def expected_name(feed: int) -> str:
    """The file of a feed's expected outputs: `expected.npz`, then `expected.1.npz`."""
    return "expected.npz" if feed == 0 else f"expected.{feed}.npz"


def first_error(error: ValidationError) -> str:
    """The first error that pydantic found, with its place."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(x) for x in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
