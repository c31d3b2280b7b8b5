"""A release of a product, the bugs found in it, and how the cases of a suite end on it.

A product's folder has two files for each backend and release in `findings`: `BACKEND-RELEASE.yaml`, written by people,
has the bugs (`KnownProduct`), and `BACKEND-RELEASE.json` has how the cases of a profile ended (`KnownRun`).
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml
from packaging.version import InvalidVersion, Version
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from opconform.errors import UsageError
from opconform.suite.names import CaseId
from opconform_runners.harness.registry import folder_of_backend
from opconform_runners.verdicts.baseline import Baseline, Ending, Line

_STATE = r"^(not reported|reported \d{4}-\d\d-\d\d|public https://\S+)$"
_STRICT = ConfigDict(extra="forbid", frozen=True)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class KnownFinding(BaseModel):
    """A distinct bug of a product."""

    model_config = _STRICT

    number: Annotated[int, Field(strict=True, ge=1)]
    requirement: Annotated[tuple[str, ...], Field(min_length=1, description="The requirements that it breaks.")]
    case: CaseId = Field(description="The smallest case that shows it.")
    observed: str = Field(min_length=1)
    state: Annotated[str, Field(pattern=_STATE)] | None = Field(
        default=None, description="Of a memory fault: see SECURITY.md."
    )
    varies: str | None = Field(default=None, description="Why its case passes in some runs.")
    first: str | None = Field(default=None, description="The first release that is known to have it.")
    last: str | None = Field(default=None, description="The last release that is known to have it.")


class KnownProduct(BaseModel):
    """A release of a product, and the bugs found in it."""

    model_config = _STRICT

    product: str
    release: str
    backend: str
    command: str
    environment: str
    remarks: Mapping[str, str] = Field(default_factory=dict, description="Texts about the product, by their headings.")
    operations: Mapping[str, str] = Field(default_factory=dict, description="A text about each operation.")
    findings: Annotated[tuple[KnownFinding, ...], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFailure:
    """A case that fails on the product.

    Attributes:
        ends: What it ends in, of several runs; with `pass` if it passes in some.
        broken: The requirements that it breaks.
        findings: The numbers of the findings that explain it.
    """

    __pydantic_config__ = _STRICT

    ends: tuple[Ending, ...]
    broken: tuple[str, ...] = ()
    findings: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownRun:
    """How the cases of a profile ended on the product: in numbers, and each failure."""

    __pydantic_config__ = _STRICT

    suite: str
    profile: str
    version: str
    operations: Mapping[str, Mapping[str, int]]
    failures: Mapping[CaseId, KnownFailure]


_RUN = TypeAdapter(KnownRun)


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownRelease:
    """A release of a product by the name of its files, such as `openvino-2026.4`."""

    name: str
    product: KnownProduct
    run: KnownRun

    def baseline(self, cases: Container[str]) -> Baseline:
        """The failures as a baseline for a suite that has only the cases with these ids."""
        ends = [(case, end) for case, known in self.run.failures.items() if case in cases for end in known.ends]
        lines = tuple(Line(number=number, pattern=case, reason=end) for number, (case, end) in enumerate(ends, 1))
        return Baseline(file=f"{self.name}.json", lines=lines, is_of_failures=True)


def known_release(backend: str, version: str = "") -> KnownRelease | None:
    """The release of a backend's product with this version, else the latest; None if its folder has no findings.

    `torch:inductor` has the files `torch-inductor-RELEASE`; a device without files of its own has those of the backend.
    """
    folder = folder_of_backend(backend)
    if folder is None:
        return None
    stems = backend.replace(":", "-"), backend.partition(":")[0]
    found = next((x for stem in stems if (x := [*releases_in(folder / "findings", stem)])), [])
    return max(found, key=lambda x: (x.run.version == version, version_of(x.product.release)), default=None)


def releases_in(folder: Path, backend: str) -> Iterator[KnownRelease]:
    """The releases of a backend whose two files a folder has; `UsageError` if one cannot be used."""
    for path in sorted(folder.glob(f"{backend}-[0-9]*.json")):
        try:
            product, run = read_known_product(path.with_suffix(".yaml")), read_known_run(path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            advice = "Mend it, or add --no-known"
            raise UsageError(f"{path.with_suffix('')}.yaml or .json cannot be used: {error}. {advice}.") from error
        yield KnownRelease(name=path.stem, product=product, run=run)


def read_known_product(path: Path) -> KnownProduct:
    """The file of a release's bugs; `ValueError` or `yaml.YAMLError` if it is wrong."""
    return KnownProduct.model_validate(yaml.load(path.read_bytes(), _LOADER))  # noqa: S506 - it is a safe one


def read_known_run(path: Path) -> KnownRun:
    """The file of how cases ended; `ValueError` if it is wrong."""
    return _RUN.validate_json(path.read_bytes())


def version_of(text: str) -> Version:
    """A version that can be compared with others; what is none is older than all."""
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")
