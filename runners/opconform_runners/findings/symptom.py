"""The symptom of a failure: what failures that are alike have in common."""

import re

from opconform_runners.findings.failures import severity_of
from opconform_runners.verdicts.results import Result

#: What differs between messages on the same fault: quoted names, paths, what is in brackets, and words with digits.
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[/\\]\S*|\[[^]]*\]|\{[^}]*\}|\([^()]*\)|\w*\d\w*")
_SIGNAL = re.compile(r"SIG[A-Z]+")
#: The most characters of a message that are searched for what varies, and the most of the others that are compared.
_COMPARED = 400
_BEGINNING = 80


def symptom_of(result: Result, cause: str) -> tuple[str, str, str]:
    """The severity, the reason, and the signal, the beginning of the message or the likely cause."""
    message = cause.partition(":")[0]
    if result.reason == "crash":
        message = "".join(_SIGNAL.findall(result.sentence[:_COMPARED])[:1])
    if result.reason == "rejected-valid":
        message = _VARYING.sub("", (result.message or "")[:_COMPARED]).replace(result.op.partition("-")[0], "")[
            :_BEGINNING
        ]
    return (severity_of(result), result.reason or "", message)


def symptom_text(symptom: tuple[str, str, str]) -> str:
    """A symptom in words, as in `wrong data (value): Shifted`."""
    severity, reason, message = symptom
    kind = severity if severity == reason else f"{severity} ({reason})"
    return f"{kind}: {message.strip()}" if message.strip() else kind
