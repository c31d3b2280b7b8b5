"""The folder of a run's results: checked to have nothing else under the names that are written, and locked."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from opconform.errors import DiskError, UsageError
from opconform.suite.storage.ownership import (
    check_no_link,
    check_ours,
    check_replaceable,
    check_work_folder,
    suite_around,
)
from opconform_runners.execution.log.outputs_zip import OUTPUTS_BEGINNING
from opconform_runners.execution.log.suite_place import MARK, SUITE_NOTE
from opconform_runners.verdicts.page import PAGE, PAGE_BEGINNING
from opconform_runners.verdicts.results import CERTIFICATE, OUTCOMES, OUTPUTS_ZIP, REPORT, RESULTS

Marks = Mapping[str, tuple[bytes, ...]]
#: The files of a run, and the possible first bytes of each.
FILES: Marks = {
    RESULTS: (b'{"alone"', b'{"broken"', b'{"cases"', b'{"expect"'),
    REPORT: (b'{\n "format"',),
    CERTIFICATE: (b'{\n "payload"',),
    PAGE: (PAGE_BEGINNING,),
    OUTCOMES: (b'{"alone"', b'{"cases"'),
    OUTPUTS_ZIP: (OUTPUTS_BEGINNING,),
    SUITE_NOTE: (MARK,),
}
#: The file that is locked while a command writes to the folder that it is in.
LOCK = ".opconform.lock"
#: The suite of the failures of a batch of a streamed run.
_BATCH = re.compile(r"\d{6}")
#: The folder in which such a suite is written.
_WORK = re.compile(r"\.\d{6}\.opconform-work")


@contextlib.contextmanager
def owned_folder(out: Path, files: Marks = FILES) -> Iterator[None]:
    """Check that some files may be written to a folder, and lock it, which a caller in this thread may have done too.

    The folder is made, and removed again if nothing was written to it.
    """
    check_folder(out, files)
    place = Path(os.path.realpath(out))
    new = [folder for folder in (place, *place.parents) if not folder.exists()]
    lock = FileLock(place / LOCK, timeout=0, is_singleton=True)
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise UsageError(f"Another process is writing to {out}. Wait for it, or use another --out.") from error
    except OSError as error:
        raise not_writable(out, error) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if lock.lock_counter == 1 and not (place / LOCK).stat().st_size:
                (place / LOCK).unlink()
        lock.release()
        with contextlib.suppress(OSError):
            for folder in new:
                folder.rmdir()


def check_folder(out: Path, files: Marks = FILES) -> None:
    """Check that some files may be written to a folder, without changing it."""
    if (suite := suite_around(out / LOCK)) is not None:
        raise UsageError(f"Results cannot be written to {out}: it is part of the suite {suite}. Use another --out.")
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(f"Results cannot be written to {out}: it is a file. Use another --out.")
        for name, marks in files.items():
            check_ours(out / name, *marks)
    except OSError as error:
        raise not_writable(out, error) from error


def check_batches(folder: Path) -> None:
    """Check that a folder has only the suites of a streamed run's batches, so that it may be removed."""
    check_no_link(folder)
    if not folder.exists():
        return
    try:
        for path in sorted(folder.iterdir()):
            if _BATCH.fullmatch(path.name):
                check_replaceable(path)
            elif _WORK.fullmatch(path.name):
                check_work_folder(path)
            else:
                raise UsageError(
                    f"opconform did not write {path} and does not remove it. Move it, or use another --out."
                )
    except OSError as error:
        raise not_writable(folder, error) from error


def not_writable(out: Path, error: OSError) -> DiskError | UsageError:
    """The error for a folder that results cannot be written to."""
    if DiskError.is_full(error):
        return DiskError(out, error)
    return UsageError(f"Results cannot be written to {out}: {error.strerror}. Use another --out.")
