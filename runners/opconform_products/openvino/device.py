"""OpenVINO's devices: those that a name such as `HETERO:GPU,CPU` allows, and those that executed a model."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from opconform.errors import UsageError
from opconform_products.openvino.runtime import ov
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.device_plugin import Plugin, plugin_of
from opconform_runners.backends.exceptions import short_message

#: The virtual devices, which pass models on to others.
_COMBINING = ("AUTO", "HETERO", "MULTI", "BATCH")
_NAME = re.compile(r"\w+(\.\w+)?")
_MEMBER = re.compile(r"(?P<excluded>-?)(?P<name>\w+(\.\w+)?)(\(\w+\))?")
_OTHER_NAME = re.compile(r"contains implementation for (?P<name>\w+)")
#: OpenVINO's documented property, and its value for devices that are not to compute in narrower types.
_MODE, _ACCURACY = "EXECUTION_MODE_HINT", ov.properties.hint.ExecutionMode.ACCURACY
_NOISE = re.compile(r"Exception from \S+:\d+:\s*|failed at \S+:\d+:\s*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """An OpenVINO device by the name that `compile_model` takes, as in `HETERO:GPU,CPU`.

    Attributes:
        allowed: The devices that may execute; empty if any may, as in `AUTO`.
        excluded: The devices that may not execute, as in `AUTO:-CPU`.
    """

    name: str
    allowed: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def allows(self, executed: str) -> bool:
        """Whether the name covers a device that executed: `GPU` covers `GPU.1`."""
        if any(_covers(x, executed) for x in self.excluded):
            return False
        return not self.allowed or any(_covers(x, executed) for x in self.allowed)


def device_of(core: ov.Core, text: str) -> Device:
    """The device of a name, which OpenVINO must have; a plugin's library is registered."""
    plugin = plugin_of(text)
    if plugin is not None:
        _register(core, plugin)
        return Device(name=plugin.name, allowed=(plugin.name,))
    device = _parsed(text)
    known = [available_device.partition(".")[0] for available_device in core.available_devices]
    listed = (*device.allowed, *device.excluded)
    unknown = [x for x in listed if not _NAME.fullmatch(x) or x.partition(".")[0] not in known]
    if unknown:
        allowed = ", ".join((*dict.fromkeys(known), *_COMBINING))
        raise UsageError(
            f"OpenVINO has no device {unknown[0]!r} on this machine. Allowed: {allowed}, or NAME=path/libplugin.so."
        )
    if not _candidates(core, device):
        raise UsageError(f"{text} excludes every device that OpenVINO has on this machine: {', '.join(known)}.")
    return device


def ask_for_accuracy(core: ov.Core, device: Device) -> None:
    """Let the devices that may execute keep the element types of a model.

    Raises:
        UsageError: A device has no such property.
    """
    for candidate in _candidates(core, device):
        try:
            core.set_property(candidate, {_MODE: _ACCURACY})
        except RuntimeError as error:
            raise UsageError(f"{candidate} has no execution mode: {short_message(error, _NOISE)}") from error


def driver_of(core: ov.Core, device: Device) -> str | None:
    """The plugins that may execute, with their versions and precisions, or None if OpenVINO cannot tell."""
    with suppress(RuntimeError):
        versions = [core.get_versions(candidate) for candidate in (device.name, *_candidates(core, device))]
        plugins = [f"{x.description} {x.build_number}" for by_device in versions for x in by_device.values()]
        return ", ".join(dict.fromkeys((*plugins, *_precisions(core, device)))) or None
    return None


def _precisions(core: ov.Core, device: Device) -> Iterator[str]:
    """The types in which devices compute with f32, such as bf16 on a processor with instructions for it."""
    for candidate in _candidates(core, device):
        with suppress(RuntimeError):
            if core.get_property(candidate, _MODE) == _ACCURACY:
                yield "execution mode ACCURACY"
                continue
            hint = core.get_property(candidate, "INFERENCE_PRECISION_HINT")
            yield f"inference precision {hint.get_type_name()}"


def hardware_of(core: ov.Core, device: Device) -> str | None:
    """The full names of the devices that may execute, or None if a plugin cannot tell."""
    with suppress(RuntimeError):
        names = [core.get_property(candidate, "FULL_DEVICE_NAME") for candidate in _candidates(core, device)]
        return ", ".join(dict.fromkeys(names)) or None
    return None


def executed_by(compiled: ov.CompiledModel, device: Device) -> tuple[str, ...]:
    """The devices that executed a model, read after each inference since AUTO changes them; empty if unknown.

    Raises `Unsupported` if a device executed it that the name does not allow.
    """
    executed = tuple(x.strip("()") for x in _property(compiled, "EXECUTION_DEVICES") or ())
    elsewhere = [case for case in executed if not device.allows(case)]
    if elsewhere:
        raise Unsupported(f"OpenVINO executed the case on {', '.join(elsewhere)}, not on {device.name}")
    return executed


def threads_of(compiled: ov.CompiledModel) -> int | None:
    """The number of threads of a compiled model, or None if its plugin cannot tell."""
    return _property(compiled, "INFERENCE_NUM_THREADS") or None


def _candidates(core: ov.Core, device: Device) -> list[str]:
    """The devices that may execute: the listed ones, or all available ones that are not excluded."""
    return list(device.allowed) or [
        available_device for available_device in core.available_devices if device.allows(available_device)
    ]


def _property(compiled: ov.CompiledModel, name: str) -> Any:
    """A property of a compiled model, or None if its plugin lacks it."""
    with suppress(RuntimeError):
        return compiled.get_property(name)
    return None


def _parsed(text: str) -> Device:
    base, _, members = text.partition(":")
    if base not in _COMBINING:
        return Device(name=text, allowed=(text,))
    matches = [_MEMBER.fullmatch(word) for word in members.split(",") if word]
    if None in matches:
        raise UsageError(f"{text!r} is not a list of devices, as in HETERO:GPU,CPU or AUTO:-CPU.")
    named = [(hit["name"], bool(hit["excluded"])) for hit in matches if hit is not None]
    return Device(
        name=text,
        allowed=tuple(name for name, excluded in named if not excluded),
        excluded=tuple(name for name, excluded in named if excluded),
    )


def _covers(named: str, executed: str) -> bool:
    return executed == named or executed.startswith(f"{named}.")


def _register(core: ov.Core, plugin: Plugin) -> None:
    """Register a plugin's library and load it, so that a wrong one fails before the first case."""
    try:
        core.register_plugin(str(plugin.path), plugin.name)
        core.get_versions(plugin.name)
    except RuntimeError as error:
        message = " ".join(str(error).split())
        match = _OTHER_NAME.search(message)
        if match is not None:
            raise UsageError(
                f"{plugin.path} implements {match['name']}. The name of its device must contain that, "
                f"as in MY{match['name']}={plugin.path}."
            ) from error
        said = short_message(message, _NOISE, 300).rstrip(". ")
        raise UsageError(f"OpenVINO cannot load {plugin.path} as the device {plugin.name}: {said}.") from error
