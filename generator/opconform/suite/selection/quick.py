"""The profile `quick`: a list of the cases of `core` that find most, which `python -m tests.quick` writes."""

import json
from collections.abc import Mapping
from functools import cache

from opconform.system.resources import root

#: The name of the profile, which no shipped group has.
QUICK = "quick"
#: The list, in the folder of the shipped cases.
LIST = "quick.json"


@cache
def quick_cases() -> Mapping[str, tuple[str, ...]]:
    """The ids of the listed cases by the full name of their group; a rejected case has its twin beside it."""
    file = root() / "cases" / LIST
    groups: Mapping[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {group: tuple(f"{group}/{digits}" for digits in listed.split()) for group, listed in groups.items()}


def is_quick(name: str) -> bool:
    """Whether a name is the name of a listed case, or of a group with one."""
    group, _, _ = name.rpartition("/")
    return name in quick_cases() or name in quick_cases().get(group, ())
