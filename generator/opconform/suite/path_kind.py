"""The kind of a path given to a command, and the error for a path of the wrong kind."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from opconform.errors import MissingError
from opconform.suite.file_names import HEADER

Kind = Literal["suite", "results", "spec", "record", "baseline", "certificate"]
_NAMES: Mapping[Kind, str] = {
    "suite": "a suite",
    "results": "a results folder",
    "spec": "a spec",
    "record": "a record of outputs",
    "baseline": "a baseline",
    "certificate": "a certificate",
}
#: The file that shows the kind of the folder or zip file that it is in. A folder with a log has results.
_SIGNS: Mapping[str, Kind] = {HEADER: "suite", "results.jsonl": "results", "outcomes.jsonl": "record"}
#: How to get each kind, if that does not depend on the given path.
_ADVICE: Mapping[Kind, str] = {
    "record": "`opconform run SUITE BACKEND --record FILE.zip` writes one.",
    "baseline": "`opconform run SUITE BACKEND --baseline FILE --update-baseline` writes one.",
    "certificate": "`opconform certificate sign RESULTS --key KEY` writes one.",
}


def check_kind(path: Path, expected: Kind) -> None:
    """Raise `MissingError`, with what to do, if a path is of a known kind, but not of the wanted one.

    Only a missing spec is reported here: the readers of the other kinds report missing files.
    """
    if expected == "spec" and not path.exists():
        raise MissingError(
            f"Spec not found: {path}. Name a YAML file, a folder of them, or an operation such as Split-1."
        )
    named = path
    if path.name in _SIGNS and path.is_file():
        path = path.parent
    kinds = kinds_of(path)
    if expected == "suite" and expected in kinds and named != path:
        raise MissingError(f"{named} is a file of a suite. Name the suite: {path}.")
    if expected == "results" and not kinds and path.is_file() and not path.name.endswith((".jsonl", "report.json")):
        raise MissingError(f"{path} is not a results folder. Name the folder that `run` or `certify` wrote.")
    if not kinds or expected in kinds:
        return
    match kinds[0]:
        case "spec":
            advice = f"Use `opconform certify {path} BACKEND`, or first `opconform generate {path} --out suite`."
        case "suite":
            advice = f"Use `opconform run {path} BACKEND`."
        case "results" if expected in ("suite", "spec") and (suite := _suite_of(path)) is not None:
            advice = f"Its suite is {suite}."
        case "results" if expected == "suite":
            advice = "Name the suite that was run."
        case "record":
            advice = f"`opconform certificate judge {path} --suite SUITE` judges it."
        case _:
            advice = f"Name {_NAMES[expected]}."
    raise MissingError(f"{path} is {_NAMES[kinds[0]]}, not {_NAMES[expected]}. {_ADVICE.get(expected, advice)}")


def kinds_of(path: Path) -> list[Kind]:
    """The kinds of a path, as far as names show them."""
    if path.is_dir():
        signs = [kind for name, kind in _SIGNS.items() if (path / name).is_file()]
        kinds: list[Kind] = list(dict.fromkeys("results" if kind == "record" else kind for kind in signs))
        return [*kinds, "spec"] if any(path.glob("*.yaml")) else kinds
    if not path.is_file():
        return []
    if path.suffix in (".yaml", ".yml"):
        return ["spec"]
    if path.name == "certificate.json":
        return ["certificate"]
    from opconform.tensors.npz import ZIP_ERRORS  # it takes long to import

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except ZIP_ERRORS:
        return []
    return [kind for name, kind in _SIGNS.items() if name in names]


def _suite_of(results: Path) -> Path | None:
    """The suite in a results folder or beside it."""
    return next((x for x in (results / "suite", results.parent / "suite") if (x / HEADER).is_file()), None)
