"""Output files of a harness and archives of them, read without trusting them, and the limit of their size."""

import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path

from opconform.errors import SuiteError
from opconform.suite.case import Accept, Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.system.files import FileTooLargeError, read_regular
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.npz import ZIP_ERRORS, arrays_of
from opconform.tensors.tensor import Array
from opconform_runners.harness.outcome import Error, Oversized

#: The bytes that the outputs of any case may take (16 MiB). Only for larger ones the exact limit is computed.
PLENTY = 1 << 24
#: The bytes that an output takes in the file besides its elements, generously.
_HEAD = 1_024
#: The maximum length of a message about a file.
_LONGEST = 400


def read_outputs(path: Path | str, where: str, *, limit: int) -> tuple[Array, ...] | Oversized | Error:
    """The outputs in a file, in order, or the outcome of a case with a file that is too large or cannot be read.

    `limit` is the most bytes of the file, and of all its arrays together; `where` is the file's name in errors. Links,
    pipes, devices and folders are not read. Raises `FileNotFoundError` if there is no such file.
    """
    try:
        content = read_regular(path, limit)
        if Path(path).stat().st_nlink > 1:
            return Error(sentence=f"{where} cannot be read: it is a hard link to another file")
    except FileNotFoundError:
        raise
    except FileTooLargeError as error:
        return Oversized(size=error.size)
    except OSError as error:
        return Error(sentence=f"{where} cannot be read: {error.strerror}")
    return outputs_in(content, where, limit=limit)


def outputs_in(content: bytes, where: str, *, limit: int) -> tuple[Array, ...] | Error:
    """The outputs in the content of an `.npz` file, in order; all its arrays together may take `limit` bytes."""
    try:
        arrays = arrays_of(content, where, limit=limit)
    except SuiteError as error:
        return Error(sentence=str(error)[:_LONGEST].rstrip("."))
    except Exception as error:  # noqa: BLE001 - the boundary: nothing that a harness wrote may end the run
        return Error(sentence=f"{where} is not a readable .npz file: {type(error).__name__}")
    if (ordered := in_order(arrays)) is not None:
        return ordered
    called = ", ".join(sorted(arrays))[:_LONGEST]
    return Error(sentence=f"the arrays in {where} are called {called}, not output_0, output_1, …")


def in_order(arrays: Mapping[str, Array]) -> tuple[Array, ...] | None:
    """The arrays called output_0, output_1, … by number; None if they have other names."""
    names = [f"output_{number}" for number in range(len(arrays))]
    return tuple(arrays[name] for name in names) if arrays.keys() == set(names) else None


def member_content(archive: zipfile.ZipFile, path: Path, name: str, limit: int) -> bytes:
    """The content of a member of an archive that opconform wrote; a SuiteError if it is missing or not readable."""
    try:
        metadata = archive.getinfo(name)
        if metadata.file_size <= limit:
            return archive.read(metadata)
    except KeyError as error:
        raise SuiteError(f"{path} contains no {name}: it is not a file that opconform wrote.") from error
    except ZIP_ERRORS as error:
        raise SuiteError(f"{path}: {name} cannot be read: {error}. Run the suite again.") from error
    raise SuiteError(f"{path}: {name} takes {metadata.file_size:,} bytes, more than the {limit:,} allowed.")


def output_limit(suite: Suite, entry: Entry, case: Case) -> int:
    """The bytes that the outputs of one feed may take: twice the size of all known arrays of the case, and `PLENTY`.

    Known are the inputs and expected outputs of all feeds, the declared outputs (also in a blind suite), and the arrays
    of an invalid case's twin. Each string takes as much as the longest one, as in `.npy`.
    """
    twin = suite.by_id.get(entry.twin) if entry.twin is not None else None
    declared = case.expect.accept if isinstance(case.expect, Accept) else ()
    sizes = [(case.feeds * prod(x.shape), ELEMENT_TYPES[x.element_type].storage) for x in declared]
    for item in (entry,) if twin is None else (entry, twin):
        for name in item.files:
            if name.startswith(("inputs.", "expected.")):
                sizes += [(array.size, array.dtype) for array in suite.arrays(item, name).values()]
    longest = max((dtype.itemsize for _, dtype in sizes if dtype.kind == "U"), default=0)
    known = sum(count * (longest if dtype.kind == "U" else dtype.itemsize) for count, dtype in sizes)
    return 2 * known + _HEAD * len(declared) + PLENTY
