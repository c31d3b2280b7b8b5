"""The export of the selected cases of a suite to a folder, which appears when it is complete."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from opconform.errors import DiskError, SuiteError, UsageError, counted
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.selection.selection import Selection
from opconform.suite.storage.work_folder import work_folder
from opconform_runners.execution.plan import check_not_blind, selected
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.tools.export import kit, numpy, onnx
from opconform_runners.tools.export.folder import check_place, seal


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A format of exports.

    Attributes:
        dialect: The dialect of the models; empty if any will do, and None if no models are written.
        gap: Returns why the format cannot hold a case that has a model, or None.
        write: Writes cases to an empty folder; `model` is the name of the model in the folder of a case.
    """

    dialect: str | None
    gap: Callable[[Suite, Entry], str | None]
    write: Callable[[Suite, Sequence[Entry], str, Path, OnProgress], None]


#: The formats by name.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "onnx": Format(dialect="onnx", gap=onnx.gap, write=onnx.write),
        **{name: Format(dialect="", gap=lambda *_: None, write=partial(kit.write, name)) for name in kit.NAMES},
        "numpy": Format(dialect=None, gap=lambda *_: None, write=numpy.write),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """What an export has: its cases, and how many selected cases it leaves out for each reason."""

    dialect: str | None
    cases: tuple[Entry, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is asked of an export.

    Attributes:
        name: The format.
        out: The folder to write.
        dialect: That of the models of a kit; empty for the suite's first one.
        force: Whether an earlier export in another format is replaced.
    """

    name: str
    out: Path
    dialect: str = ""
    force: bool = False


def export_suite(
    suite: Suite, selection: Selection, request: Request, on_progress: OnProgress = lambda *_: None
) -> Exported:
    """Write the selected cases, and the twins of the invalid ones, to a folder, in place of an earlier export.

    Nothing is written if this raises an error.

    Raises:
        SuiteError: The suite is blind, damaged or not the release that it claims to be, or no case can be exported.
        UsageError: The suite lacks the dialect, something else is in the folder, or it cannot be written.
    """
    name, out, force = request.name, request.out, request.force
    check_not_blind(suite)
    if suite.release_difference:
        raise SuiteError(f"{suite.store.root}: {suite.release_difference}. Generate or install it again.")
    check_place(out, name, force=force)
    chosen = _dialect(suite, name, request.dialect)
    entries = selected(suite, selection)
    reading = staged(entries, on_progress, f"Reading {counted(len(entries), 'case')}")
    gaps = {entry.id: _gap(suite, entry, FORMATS[name], chosen) for entry in reading}
    left_out = dict(Counter(why for why in gaps.values() if why is not None).most_common())
    exported = Exported(
        dialect=chosen, cases=tuple(entry for entry in entries if gaps[entry.id] is None), left_out=left_out
    )
    if not exported.cases:
        reasons = "; ".join(f"{counted(count, 'case')}: {why}" for why, count in left_out.items())
        raise SuiteError(f"No selected case of {suite.store.root} can be exported as {name}: {reasons}.")
    model = "" if chosen is None else suite.header.dialects[chosen]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with work_folder(out) as work:
            FORMATS[name].write(suite, exported.cases, model, work.partial, on_progress)
            seal(work.partial, _about(suite, name, exported))
            work.replace(partial(check_place, name=name, force=force))
    except OSError as error:
        if DiskError.is_full(error):
            raise DiskError(out, error) from error
        raise UsageError(f"{out} cannot be written: {error.strerror}. Use another --out.") from error
    return exported


def _dialect(suite: Suite, name: str, dialect: str) -> str | None:
    """The dialect of the exported models."""
    known, fixed = suite.header.dialects, FORMATS[name].dialect
    if dialect and fixed != "":
        raise UsageError(f"--dialect is only for {' and '.join(kit.NAMES)}; leave it out with --as {name}.")
    if fixed is None:
        return None
    dialect_name = fixed or dialect or next(iter(known), "")
    if dialect_name not in known:
        has = f"has only {', '.join(known)}" if known else "has no models"
        missing = f"no dialect {json.dumps(dialect_name)}" if dialect_name else "no dialect"
        raise UsageError(
            f"{suite.store.root} {has}: {missing} to export as {name}. "
            f"Generate it with --dialect {dialect_name or 'NAME'}."
        )
    return dialect_name


def _gap(suite: Suite, entry: Entry, form: Format, dialect: str | None) -> str | None:
    """Why a case cannot be exported, or None."""
    if dialect is not None and suite.header.dialects[dialect] not in entry.files:
        return f"no model in {dialect}: {entry.left_out.get(dialect, 'left out')}"
    return form.gap(suite, entry)


def _about(suite: Suite, name: str, exported: Exported) -> dict[str, object]:
    return {
        "format": 1,
        "as": name,
        "suite": {"digest": suite.header.identity, "version": suite.header.version},
        "generator": suite.header.generator,
        "dialect": exported.dialect,
        "left_out": dict(exported.left_out),
        "cases": [entry.id for entry in exported.cases],
    }
