"""One virtual environment per release, in a cache folder: made when it is needed, used again, and removed at once."""

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock
from packaging.utils import canonicalize_name

from opconform.errors import DiskError, HarnessError, UsageError
from opconform.system.files import FileTooLargeError, read_regular
from opconform.system.interrupts import run_loop
from opconform.system.removal import remove_folder
from opconform_runners.backends.backend import Implementation
from opconform_runners.harness.command import Command, backend_command, memory_limit
from opconform_runners.harness.connection import described
from opconform_runners.tools.history.installer import Installer, interpreter_in, make_environment
from opconform_runners.tools.history.releases import ordered

#: The file that marks the cache folder, for opconform and for backups too.
_TAG, _SIGNATURE = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of opconform.\n",
)
#: The file that an environment has once its backend started.
_READY = "opconform.json"
#: The file that every virtual environment has.
_ENVIRONMENT = "pyvenv.cfg"
#: What a harness needs besides the product.
_HARNESS = ("ml_dtypes", "pydantic")
#: Older releases of products do not say that they were built for numpy 1, and some return wrong data with numpy 2.
_NUMPY = ("numpy<2", "numpy")


def default_cache() -> Path:
    """The folder of the environments, among the user's other caches."""
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "opconform" / "releases"


@dataclass(frozen=True, kw_only=True, slots=True)
class Environments:
    """The environments of the releases of a package for a backend.

    Attributes:
        cache: The folder of all environments.
        others: The other packages that the backend needs.
    """

    cache: Path
    package: str
    backend: str
    others: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the package's environments."""
        return self.cache / canonicalize_name(self.package)

    def place(self, version: str) -> Path:
        """The environment of a release for this version of Python."""
        return self.folder / f"{version}-{sys.implementation.cache_tag}"

    def installed(self) -> tuple[str, ...]:
        """The releases that are installed, the oldest first."""
        ready = self.folder.glob(f"*-{sys.implementation.cache_tag}/{_READY}")
        return ordered([path.parent.name.rpartition(f"-{sys.implementation.cache_tag}")[0] for path in ready])

    def command(self, version: str) -> Command:
        """The command of the backend in the environment of a release."""
        command = backend_command(self.backend, interpreter_in(self.place(version)))
        return replace(command, memory=memory_limit())

    def prepare(self, version: str, installer: Installer) -> None:
        """Make the environment of a release unless it is there.

        An environment that was not finished, or was made for other packages, is made again.

        Raises:
            DiskError: The disk is full.
            HarnessError: The release cannot be installed, or its backend does not start.
        """
        place = self.place(version)
        needed = (f"{self.package}=={version}", *self.others)
        with self._held(version):
            if not self._is_ready(place, needed):
                self._make(place, needed, installer, version)
                (place / _READY).write_text("\n".join(needed) + "\n")

    @staticmethod
    def _is_ready(place: Path, needed: Collection[str]) -> bool:
        """Whether an environment was finished, with the needed packages."""
        ready = place / _READY
        if not interpreter_in(place).exists() or not ready.is_file():
            return False
        return {*needed} <= {*ready.read_text(errors="replace").splitlines()}

    def implementation(self, version: str) -> Implementation:
        """What the backend of a release that is installed says of itself; a `HarnessError` if it does not start."""
        return run_loop(described(self.command(version)))

    def _make(self, place: Path, needed: Sequence[str], installer: Installer, version: str) -> None:
        """Make an environment in which the backend starts."""
        why: list[HarnessError] = []
        for numpy in _NUMPY:
            shutil.rmtree(place, ignore_errors=True)
            try:
                make_environment(place, "--without-pip")
                installer.install(interpreter_in(place), *needed, numpy, *_HARNESS)
                self.implementation(version)
            except HarnessError as error:
                why.append(error)
            else:
                return
        shutil.rmtree(place, ignore_errors=True)
        if os.strerror(errno.ENOSPC) in str(why[-1]):
            raise DiskError(self.cache, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) from why[-1]
        raise why[-1]

    def claim(self) -> None:
        """Mark the cache folder as opconform's, which must be new, empty or marked: all in it may be removed."""
        with self._translated():
            self.cache.mkdir(parents=True, exist_ok=True)
            if not self._is_claimed():
                if any(self.cache.iterdir()):
                    raise UsageError(f"{self.cache} contains files that are not opconform's. Name another --cache.")
                (self.cache / _TAG).write_text(_SIGNATURE)

    @contextlib.contextmanager
    def _held(self, version: str) -> Iterator[None]:
        """A release's environment, locked against other processes."""
        with self._translated():
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(_lock_of(self.place(version))):
                yield

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if DiskError.is_full(error):
                raise DiskError(self.cache, error) from error
            raise UsageError(f"{self.cache} cannot be used: {error.strerror}. Name another --cache.") from error

    def remove(self) -> tuple[str, ...]:
        """Remove the environments of the package, and return their releases. Nothing else in the cache is removed."""
        gone = self.installed()
        if not self.folder.is_dir() or self.folder.is_symlink():
            return ()
        if not self._is_claimed():
            raise UsageError(f"{self.cache} is not a cache of opconform: it has no {_TAG} of it. Name another --cache.")
        for place in [path for path in self.folder.iterdir() if self._is_environment(path)]:
            remove_folder(str(place))
        for lock in [path for path in self.folder.glob("*.lock") if self._is_lock(path)]:
            lock.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # something else is in it
            self.folder.rmdir()
        return gone

    def _is_claimed(self) -> bool:
        """Whether the cache folder has opconform's own mark."""
        try:
            return read_regular(self.cache / _TAG, len(_SIGNATURE)) == _SIGNATURE.encode()
        except (OSError, FileTooLargeError):
            return False

    def _is_environment(self, place: Path) -> bool:
        """Whether a folder is an environment of the package: finished, or locked while it was made."""
        if place.is_symlink() or not (place / _ENVIRONMENT).is_file():
            return False
        return (place / _READY).is_file() or _lock_of(place).is_file()

    @staticmethod
    def _is_lock(path: Path) -> bool:
        """Whether a file is the empty lock of an environment that is not there, such as one that was not installed."""
        is_empty_file = not path.is_symlink() and path.is_file() and not path.stat().st_size
        return is_empty_file and not path.with_suffix("").exists()


def _lock_of(place: Path) -> Path:
    """The file that is locked while an environment is made or looked at."""
    return place.with_name(f"{place.name}.lock")
