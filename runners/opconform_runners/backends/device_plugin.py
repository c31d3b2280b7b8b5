"""Plugins: devices given with their library, as in `MYCPU=path/libplugin.so`."""

from dataclasses import dataclass
from pathlib import Path

from opconform.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """A library that provides a device, and the device's name."""

    name: str
    path: Path


def plugin_of(device: str) -> Plugin | None:
    """The plugin of a device named `NAME=PATH`; None for one of the product's own devices."""
    name, equals, path = device.partition("=")
    if not equals:
        return None
    if not name or not path:
        raise UsageError(f"The device {device!r} needs a name and a library, as in MYCPU=path/libplugin.so.")
    if not Path(path).is_file():
        raise UsageError(f"File not found: {path}. Name the device of a plugin as NAME=path/libplugin.so.")
    return Plugin(name=name, path=Path(path).absolute())
