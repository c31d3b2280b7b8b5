"""Plugins: device names such as `MYCPU=path/libplugin.so`, which bring the library of the device along."""

from dataclasses import dataclass
from pathlib import Path

from opconform.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """A library that provides a device, and what the device is called."""

    name: str
    path: Path


def plugin_of(device: str) -> Plugin | None:
    """The plugin of a device that is named `NAME=PATH`; None for a device of the product's own.

    Raises:
        UsageError: The name is empty, or there is no such file.
    """
    name, equals, path = device.partition("=")
    if not equals:
        return None
    if not name or not path:
        raise UsageError(f"The device {device!r} needs a name and a library, as in MYCPU=path/libplugin.so.")
    if not Path(path).is_file():
        raise UsageError(f"There is no file {path}. A device of a plugin is named NAME=path/libplugin.so.")
    return Plugin(name=name, path=Path(path).absolute())
