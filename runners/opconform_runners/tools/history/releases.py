"""The releases of a package that the user's package index has for this Python, and those among them that are wanted."""

import re
import sys
from collections.abc import Sequence

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from opconform.errors import HarnessError, UsageError, nearest
from opconform.system.text import one_line, shortened
from opconform_runners.harness.environment import packages_of
from opconform_runners.harness.registry import backend_file_of, check
from opconform_runners.tools.history.installer import Installer, said

_AVAILABLE = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
#: The most versions that an error names.
_NAMED = 40


def package_of(backend: str, package: str | None) -> tuple[str, tuple[str, ...]]:
    """The package whose releases are a backend's, and the other packages that the backend needs.

    They are those of the backend's extra; the first is the one that the backend is named after, if there is one.
    """
    check(backend)
    name = backend.partition(":")[0]
    needed = [] if backend_file_of(backend) else [canonicalize_name(x) for x in packages_of(name)]
    if package is None and not needed:
        raise UsageError(f"opconform does not know the package of {backend}. Add --package NAME.")
    named = [x for x in needed if name.startswith(x) or name in x]
    first = _name(package) if package is not None else max(named or needed[:1], key=len)
    return first, tuple(dict.fromkeys(x for x in needed if x != first))


def _name(package: str) -> str:
    """The normalized name of a package, which pip and the file system take for nothing else."""
    try:
        return canonicalize_name(package, validate=True)
    except InvalidName as error:
        what = "letters, digits, and single dots, hyphens and underscores inside"
        raise UsageError(f"--package {package!r} is not the name of a package: it has {what}.") from error


def releases_of(package: str, installer: Installer) -> tuple[str, ...]:
    """The releases that can be installed, the oldest first.

    Raises:
        HarnessError: The index cannot be asked, or does not have the package.
    """
    done = installer.pip("index", "versions", package)
    match = _AVAILABLE.search(done.stdout)
    if match is None:
        python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        raise HarnessError(f"pip finds no release of {package} for {python}: {one_line(said(done), 300).rstrip('.')}.")
    return ordered(match[1].replace(",", " ").split())


def ordered(versions: Sequence[str]) -> tuple[str, ...]:
    """Versions, the oldest first, without those that no standard orders."""
    known = {}
    for text in versions:
        try:
            known[Version(text)] = text
        except InvalidVersion:
            continue
    return tuple(known[version] for version in sorted(known))


def wanted(words: Sequence[str], known: Sequence[str], package: str) -> tuple[str, ...]:
    """The releases that versions (`2025.2`) and ranges (`2025.0..2026.4`, `2025.0..`) name, the oldest first.

    A range includes both ends, and the later releases that begin with the last one: `..2026.4` includes 2026.4.1.
    """
    if not words:
        return tuple(known)
    chosen: set[str] = set()
    for word in words:
        first, dots, last = word.partition("..")
        low = _version(first, word, package) if first or not dots else None
        high = _version(last, word, package) if last else None
        if low is None and high is None:
            raise UsageError(f"{word!r} has no end. Without versions, all releases of {package} are run.")
        if dots:
            hits = [x for x in known if (low is None or Version(x) >= low) and _within(x, high)]
        else:
            hits = [x for x in known if Version(x) == low]
        if not hits:
            listed = ", ".join(shortened(known, _NAMED))
            hint = "" if dots else nearest(word, known)
            raise UsageError(f"{word} names no release of {package}. {hint}Known: {listed}.")
        chosen.update(hits)
    return tuple(x for x in known if x in chosen)


def _within(text: str, high: Version | None) -> bool:
    """Whether a version is at most another one, or continues it."""
    version = Version(text)
    return high is None or version <= high or version.release[: len(high.release)] == high.release


def _version(text: str, word: str, package: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise UsageError(
            f"{word!r} is neither a version nor a range. Name releases of {package} as in 2025.2 or 2025.0..2026.4."
        ) from error
