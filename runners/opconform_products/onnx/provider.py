"""ONNX Runtime's execution providers, and sessions that use one of them alone."""

import re
from dataclasses import dataclass
from typing import Any

import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as state

from opconform.errors import UsageError
from opconform_runners.backends.backend import Placement, Unsupported
from opconform_runners.backends.device_plugin import Plugin, plugin_of
from opconform_runners.backends.exceptions import short_message

_SUFFIX = "ExecutionProvider"
_CPU = "CPU"
_ERROR = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """An execution provider such as `CUDAExecutionProvider`, for the device `CUDA`.

    `devices` are the devices of a plugin's provider, and empty for a built-in one.
    """

    device: str
    name: str
    devices: tuple[Any, ...] = ()
    hardware: str | None = None
    driver: str | None = None


def provider_of(device: str) -> Provider:
    """The provider of a device, which must report what executes a case; a plugin's library is registered."""
    plugin = plugin_of(device)
    if plugin is None and f"{device}{_SUFFIX}" not in ort.get_available_providers():
        known = ", ".join(
            get_available_provider.removesuffix(_SUFFIX) for get_available_provider in ort.get_available_providers()
        )
        raise UsageError(
            f"ONNX Runtime has no device {device!r} on this machine. Allowed: {known}, or NAME=path/libplugin.so."
        )
    if device != _CPU and not hasattr(ort.InferenceSession, "get_provider_graph_assignment_info"):
        raise UsageError(
            f"ONNX Runtime {ort.__version__} cannot report where a case is executed; devices other than CPU need that. "
            f"Install 1.24 or later."
        )
    return _plugin_provider(plugin) if plugin is not None else Provider(device=device, name=f"{device}{_SUFFIX}")


def session_of(model: str, provider: Provider) -> ort.InferenceSession:
    """A session on a model's file that executes with one provider and never falls back to another."""
    options = ort.SessionOptions()
    if provider.device != _CPU:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if provider.devices:
        options.add_provider_for_devices(list(provider.devices), {})
        return ort.InferenceSession(model, options, enable_fallback=False)
    return ort.InferenceSession(model, options, providers=[provider.name], enable_fallback=False)


def placement_of(session: ort.InferenceSession, provider: Provider) -> Placement:
    """The placement of a session.

    Raises `Unsupported` if another provider executes nodes, or if all were folded as constants, which the CPU does.
    """
    if provider.device == _CPU:
        return Placement(devices=(_CPU,))
    executing = {x.ep_name for x in session.get_provider_graph_assignment_info() if x.get_nodes()}
    if executing != {provider.name}:
        others = ", ".join(sorted(x.removesuffix(_SUFFIX) for x in executing)) or "the CPU, by constant folding"
        raise Unsupported(f"ONNX Runtime executes the case on {others}, not on {provider.device}")
    return Placement(devices=(provider.device,))


def _plugin_provider(plugin: Plugin) -> Provider:
    before = {get_ep_device.ep_name for get_ep_device in ort.get_ep_devices()}
    try:
        # Some plugins name their provider after the registration, so that the hardware must not be part of it.
        ort.register_execution_provider_library(plugin.name.partition(".")[0], str(plugin.path))
    except (state.Fail, state.InvalidArgument, state.RuntimeException, RuntimeError) as error:
        said = short_message(error, _ERROR, 300).rstrip(". ")
        raise UsageError(f"ONNX Runtime cannot load {plugin.path}: {said}.") from error
    devices = [get_ep_device for get_ep_device in ort.get_ep_devices() if get_ep_device.ep_name not in before]
    if not devices:
        raise UsageError(f"{plugin.path} finds no device on this machine that it can execute on.")
    named = [hit for hit in devices if _label(hit) == plugin.name]
    named = named or [hit for hit in devices if _exact_label(hit) == plugin.name]
    if not named or len({_exact_label(x) for x in named}) > 1:
        labels = ", ".join(dict.fromkeys(_exact_label(hit) for hit in named or devices))
        raise UsageError(f"{plugin.name} does not name one device of {plugin.path}. Allowed: {labels}.")
    first = named[0]
    return Provider(
        device=plugin.name,
        name=first.ep_name,
        devices=tuple(named),
        hardware=f"{first.device.vendor} {first.device.type.name}".strip(),
        driver=f"{first.ep_name} {first.ep_metadata.get('version', '')}".strip(),
    )


def _label(device: Any) -> str:
    """The device name of a provider, as in `OpenVINO` or `OpenVINO.AUTO`."""
    return str(device.ep_name).replace(_SUFFIX, "")


def _exact_label(device: Any) -> str:
    """The device name with the kind of hardware, as in `OpenVINO.GPU`."""
    return f"{_label(device)}.{device.device.type.name}"
