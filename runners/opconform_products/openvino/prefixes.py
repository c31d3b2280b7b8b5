"""What may precede the name of an OpenVINO device: how its models are compiled."""

from typing import NamedTuple

_ACCURACY, _IMPORT = "ACCURACY:", "IMPORT:"


class Prefixed(NamedTuple):
    """The name of a device, and what precedes it.

    Attributes:
        device: The name that OpenVINO knows.
        is_accurate: Whether models are compiled with the execution mode ACCURACY.
        is_imported: Whether a compiled model is exported, and the imported one executed.
    """

    device: str
    is_accurate: bool
    is_imported: bool

    @property
    def prefix(self) -> str:
        """What precedes the name of the device."""
        return f"{_ACCURACY * self.is_accurate}{_IMPORT * self.is_imported}"


def prefixed(text: str) -> Prefixed:
    """The parts of a name such as `ACCURACY:IMPORT:CPU`; the prefixes have no order."""
    found = set[str]()
    while prefix := next((x for x in (_ACCURACY, _IMPORT) if text.startswith(x)), ""):
        found.add(prefix)
        text = text.removeprefix(prefix)
    return Prefixed(text, is_accurate=_ACCURACY in found, is_imported=_IMPORT in found)
