"""The recipe of a suite: the digest of what decides its bytes, and of nothing else."""

import ast
from pathlib import Path

import opconform
from opconform.generation.header import RECIPE_PACKAGES

PACKAGE = Path(opconform.__file__ or "").parent


def path_of(module: str) -> Path | None:
    """The file of a module of the package, or None where the name is not a module's."""
    stem = PACKAGE / module.removeprefix("opconform").lstrip(".").replace(".", "/")
    return next((each for each in (stem.with_suffix(".py"), stem / "__init__.py") if each.is_file()), None)


def imported(module: str, known: set[Path]) -> set[Path]:
    """The files of a module and of all that it imports of the package."""
    path = path_of(module)
    if path is None or path in known:
        return known
    known.add(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("opconform"):
            for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names)):
                imported(name, known)
    return known


def test_the_recipe_covers_every_module_that_decides_a_suites_bytes() -> None:
    """All that expansion and case files import, and so nothing of commands, reports or scripts."""
    files = imported("opconform.generation.expansion", imported("opconform.generation.case_files", set()))
    inside = {each.relative_to(PACKAGE) for each in files}

    assert {each.parts[0] for each in inside if each.parent != Path()} == set(RECIPE_PACKAGES)
