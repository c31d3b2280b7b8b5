"""The start of a harness: its process and its answer to `start`, or the reason why it cannot be used."""

import re
from dataclasses import dataclass, field

from opconform.errors import HarnessError, nearest
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import Implementation
from opconform_runners.harness.command import Command
from opconform_runners.harness.processes.process import START_LIMIT, HarnessEnded, Process, started
from opconform_runners.harness.protocol import START_LINE, ProtocolError, said_of
from opconform_runners.harness.registry import UNUSABLE, is_shipped

#: How Python reports a missing module.
_OPERATION = re.compile(r"\S+-\d+")
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[^']+)'")


@dataclass(slots=True)
class Harness:
    """A harness that has answered `start`.

    Attributes:
        inline: Whether it takes small tensors in the request.
        served: The ids of the cases whose requests were settled.
    """

    process: Process
    implementation: Implementation
    inline: bool = False
    served: list[str] = field(default_factory=list)


async def connect(command: Command) -> Harness:
    """Start a harness and send it `start`; raises `HarnessError` if it cannot be started or its answer is invalid."""
    process = await started(command)
    try:
        process.send(START_LINE)
        implementation, inline = said_of(await process.receive(START_LIMIT))
        _check_declared(implementation)
        return Harness(process, implementation, inline)
    except BaseException as error:
        await process.kill()
        if isinstance(error, TimeoutError | HarnessEnded | ProtocolError):
            raise HarnessError(start_sentence(command, error, process.said_last)) from error
        raise


def _check_declared(implementation: Implementation) -> None:
    """Refuse unknown element types and operations, since failures of what is not declared are not counted."""
    for element_type in implementation.element_types:
        if element_type not in ELEMENT_TYPES:
            hint = nearest(element_type, ELEMENT_TYPES).strip().replace("Did", "did")
            known = hint or f"allowed: {', '.join(ELEMENT_TYPES)}"
            raise ProtocolError(f"it declares the element type {element_type!r}, which does not exist ({known})")
    for operation in implementation.operations:
        if not _OPERATION.fullmatch(operation):
            raise ProtocolError(f"it declares the operation {operation!r} without a version, as in Split-1")
    if not implementation.dialects and not implementation.operations:
        raise ProtocolError("it declares neither dialects nor operations")


async def described(command: Command) -> Implementation:
    """The answer of a harness to `start`; starts and stops the harness. Raises what `connect` raises."""
    harness = await connect(command)
    await harness.process.stop()
    return harness.implementation


def start_sentence(command: Command, error: BaseException, last: str) -> str:
    """Why a harness cannot be started; `last` is the end of its standard error."""
    if isinstance(error, TimeoutError):
        why = f"it did not answer `start` within {START_LIMIT:.0f} seconds"
    elif isinstance(error, HarnessEnded):
        if command.python is not None and last:
            line = last.splitlines()[-1]
            if missing := _MISSING.search(line):
                return missing_sentence(command, missing["module"], began=error.code == UNUSABLE)
            if error.code == UNUSABLE:
                return line
        why = f"it {error.how}"
    else:
        why = f"{error}; see docs/protocol.md"
    quote = f" It said: {last.splitlines()[-1]}" if last and not isinstance(error, HarnessEnded) else ""
    return f"The harness {command.name} cannot be started: {why.rstrip('.')}.{quote}"


def missing_sentence(command: Command, module: str, *, began: bool = True) -> str:
    """Why a Python backend that lacks a module cannot be used; `began` says that the harness itself was loaded."""
    package = module.partition(".")[0]
    if command.elsewhere and (not began or is_shipped(command.name)):
        needs = "the product, numpy, pydantic and ml_dtypes"
        return f"{command.name} cannot be used: {package} is not installed in {command.python}, which needs {needs}."
    if is_shipped(command.name):
        extra = command.name.partition(":")[0]
        extra = f'Install it with: pip install "opconform[{extra}]" (in a clone: pip install ".[{extra}]")'
        return f"{command.name} cannot be used: {package} is not installed. {extra}."
    sentence = f"{command.name} needs the module {module}, which is not installed in {command.python}."
    if command.name.partition(":")[0].partition(".")[0] != package:
        return sentence
    return f"{sentence} Name a module that is not installed by its file, as path/file.py:ClassName."
