"""Scratch paths: where a harness finds a case on this machine, taken out of all that it says."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

_Outcome = TypeVar("_Outcome")


def without_scratch(outcome: _Outcome, scratch: Path) -> _Outcome:
    """An outcome whose texts name files as the suite does: `onnx/model.onnx`, not `/tmp/opconform-x/7/onnx/model.onnx`.

    The folder has another name in every run, and results of two runs are compared text by text.

    Args:
        outcome: Any dataclass; its fields that are text are changed, and no others.
        scratch: The folder of the run. Below it each request has a numbered folder and numbered files.
    """
    texts = {each.name: getattr(outcome, each.name) for each in fields(outcome)}  # type: ignore[arg-type]
    changed = {
        name: _plain(text, scratch) for name, text in texts.items() if isinstance(text, str) and scratch.name in text
    }
    return replace(outcome, **changed) if changed else outcome  # type: ignore[type-var]


def _plain(text: str, scratch: Path) -> str:
    # A harness may have resolved a link above the folder, or what it said may have been cut in the middle of the path.
    folder = rf"(?:file:(?=/))?(?:{re.escape(str(scratch.parent))}/|[^\s'\"`(\[<,;:=]*){re.escape(scratch.name)}"
    text = re.sub(rf"{folder}/\d+(?P<feed>\.\d+)?\.npz", r"outputs\g<feed>.npz", text)
    text = re.sub(rf"{folder}/\d+/(?=[\w.])", "", text)
    return re.sub(rf"{folder}(?:/\d+)?/?", "the case's folder", text)
