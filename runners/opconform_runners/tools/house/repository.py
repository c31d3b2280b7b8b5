"""Rules on files of the repository, which are looked at only in a checkout: tables of tests."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from opconform.operations.operation import Operation
from opconform.specs.index import cases_folder
from opconform_runners.backends.numpy.backend import FUNCTIONS, Numpy
from opconform_runners.tools.house.exceptions import FILE, is_excepted
from opconform_runners.tools.house.lacks import Lack
from opconform_runners.tools.house.operation import HouseOperation

NEIGHBOURS = "tests/dialects/neighbours.py"
FACTS = "tests/findings/test_facts.py"
#: Per table of the neighbours: the element type and rank of what it puts in front of an operation.
TABLES = {"NEIGHBOURS": ("i32", 3), "CONVOLVED": ("f32", 4)}


def checkout() -> Path | None:
    """The folder of the checkout that is in use, or None if opconform is installed without one."""
    root = cases_folder().parent
    return root if (root / NEIGHBOURS).is_file() else None


def second_implementation(house: HouseOperation) -> Iterator[Lack]:
    """The `numpy` backend has a function of the operation."""
    if house.name not in FUNCTIONS:
        file = f"runners/{Numpy.__module__.replace('.', '/')}.py"
        what = "add a function to FUNCTIONS, written from the page alone, which checks what the declaration does not"
        yield Lack(file, None, f"the numpy backend does not execute {house.name}: {what}")


def neighbours(house: HouseOperation) -> Iterator[Lack]:
    """Dialects are tested with the operation behind another one and behind a convolution."""
    for table, (element_type, rank) in TABLES.items() if checkout() is not None else ():
        is_due = can_follow(house.operation, element_type, rank) and not is_excepted(house.name, table)
        if is_due and house.name not in _texts(NEIGHBOURS, table):
            todo = f"add its other arguments to {table}, or name it and the reason under the rule {table} in {FILE}"
            yield Lack(NEIGHBOURS, None, f"{house.name} is never behind {element_type} of rank {rank}: {todo}")


def can_follow(operation: Operation, element_type: str, rank: int) -> bool:
    """Whether the first input of an operation takes an element type and a rank."""
    first = next(iter(operation.inputs), None)
    if first is None:
        return False
    return (first.types is None or element_type in first.types) and (first.ranks is None or rank in first.ranks)


def facts(house: HouseOperation) -> Iterator[Lack]:
    """Each fact has a case that has it, and one that has not."""
    for fact in house.operation.facts if checkout() is not None else ():
        if _texts(FACTS, "CASES").count(fact) < 2:  # noqa: PLR2004 - one case each
            yield Lack(FACTS, None, f"add to CASES a case in which {fact!r} holds, and one in which it does not")


@cache
def _texts(file: str, table: str) -> list[str]:
    """The texts of a table of a test, including the texts of the constants that it names."""
    folder = checkout()
    tree = ast.parse((folder / file).read_text()) if folder is not None else ast.Module([], [])
    constants = {
        ast.unparse(target): node.value for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
    }
    texts: list[str] = []
    queue = [constants[table]] if table in constants else []
    for part in queue:  # which grows
        for node in ast.walk(part):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            if isinstance(node, ast.Name) and node.id in constants:
                queue.append(constants[node.id])
    return texts
