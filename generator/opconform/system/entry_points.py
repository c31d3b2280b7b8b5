"""Entry points: what installed distributions add to the operations and dialects that opconform ships."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class Unusable(Exception):  # noqa: N818 - the sentence becomes a warning
    """An object of an entry point that cannot be used; the message is a sentence about it."""


class Registry(Mapping[str, T], Generic[T]):
    """What is shipped, and what the entry points of a group declare, by name.

    Entry points are searched for, and their modules imported, only when a name that is not shipped is looked up, or all
    names are listed. An entry point that cannot be used is reported once, in a sentence, and left out.
    """

    def __init__(
        self, group: str, kinds: tuple[type[T], ...], shipped: Mapping[str, T], check: Callable[[str, T, Path], None]
    ) -> None:
        """Make a registry; `check` raises `Unusable` for an object, its name and the file of its module."""
        self._group, self._kinds, self._shipped, self._check = group, kinds, shipped, check
        self._used: dict[str, T | None] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._shipped:
            return self._shipped[name]
        loaded = self._installed(name)
        if loaded is None:
            raise KeyError(name)
        return loaded

    def __iter__(self) -> Iterator[str]:
        yield from self._shipped
        yield from self.installed()

    def __len__(self) -> int:
        return len(self._shipped) + len(self.installed())

    def installed(self) -> tuple[str, ...]:
        """The names that installed distributions add, sorted."""
        return tuple(sorted(name for name in self._entries if self._installed(name) is not None))

    def module_of(self, name: str) -> str | None:
        """The module that an entry point names, or None for what is shipped or unknown."""
        is_installed = name not in self._shipped and self._installed(name) is not None
        return self._entries[name][0].module if is_installed else None

    def sources_of(self, name: str) -> list[Path]:
        """The files that decide what an installed object does: its module, or all modules and templates of its package.

        Shipped objects have none here.
        """
        module = self.module_of(name)
        if module is None:
            return []
        file = file_of(module)
        if "." not in module and not hasattr(sys.modules[module], "__path__"):
            return [file]
        return sorted(path for path in file.parent.rglob("*") if path.suffix in (".py", ".j2"))

    @cached_property
    def _entries(self) -> Mapping[str, list[EntryPoint]]:
        by_name: dict[str, list[EntryPoint]] = {}
        for entry_point in entry_points(group=self._group):
            by_name.setdefault(entry_point.name, []).append(entry_point)
        return by_name

    def _installed(self, name: str) -> T | None:
        """The object of an entry point, or None if there is none, or it cannot be used."""
        if name not in self._used:
            self._used[name] = None  # while its module is imported, which may look it up
            try:
                self._used[name] = self._loaded(name) if name in self._entries else None
            except Unusable as error:
                _warn(f"The entry point {name} of {_makers(self._entries[name])} ({self._group}) is not used: {error}")
        return self._used[name]

    def _loaded(self, name: str) -> T:
        entries = self._entries[name]
        if name in self._shipped:
            raise Unusable("opconform ships that name. Rename it.")
        if len(entries) > 1:
            raise Unusable("several distributions declare it. Uninstall all but one.")
        [entry] = entries
        try:
            loaded = entry.load()
        except Exception as error:
            raise Unusable(f"{entry.value} cannot be imported: {type(error).__name__}: {error}.") from error
        if not isinstance(loaded, self._kinds):
            kinds = " or ".join(kind.__name__ for kind in self._kinds)
            what = f"is of the type {type(loaded).__name__}, not {kinds}"
            raise Unusable(f"{entry.value} {what}. Name an object of that type.")
        self._check(name, loaded, file_of(entry.module))
        return loaded


def file_of(module: str) -> Path:
    """The file of an imported module."""
    return Path(str(sys.modules[module].__file__))


def _makers(entries: list[EntryPoint]) -> str:
    names = sorted({entry.dist.name if entry.dist is not None else "an unknown distribution" for entry in entries})
    return " and ".join(names)


def _warn(sentence: str) -> None:
    """Report a sentence; without a configuration of `logging`, it goes to standard error as it is."""
    import logging  # few runs need it

    logging.getLogger("opconform").warning("warning: %s", sentence)
