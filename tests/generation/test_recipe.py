"""The recipe of a suite: the digest of what decides its bytes, and of nothing else."""

import ast
import io
import shutil
import tokenize
from itertools import pairwise
from pathlib import Path

import pytest

import opconform
from opconform.generation.identity.recipe import RECIPE, code_of, modules_digest

PACKAGE = Path(opconform.__file__ or "").parent
#: What generates a suite imports these modules, which decide none of its bytes: they raise, read, lock and schedule.
UNDECIDING = {
    *("__init__.py", "errors.py", "generation/options.py", "generation/identity/recipe.py"),
    "generation/output/workers.py",
    *(
        f"system/{name}.py"
        for name in ("entry_points", "files", "interrupts", "memory", "removal", "tasks", "temporary")
    ),
    *(
        "suite/selection/hints.py",
        "suite/selection/reach.py",
        "suite/path_kind.py",
        "suite/storage/ownership.py",
    ),
    *("suite/reader.py", "suite/release.py", "suite/verification.py"),
    *("suite/storage/store.py", "suite/storage/work_folder.py"),
}
#: One module of each room, and whether its code decides a suite's bytes.
ROOMS = {
    "errors.py": False,
    "system/resources.py": True,
    "adequacy/mutations.py": False,
    "suite/storage/bucket.py": False,
    "dialects/openvino.py": True,
    "explanation/case_list.py": False,
    "explanation/origins.py": False,
    "explanation/pictures.py": False,
    "generation/expansion.py": True,
    "generation/output/workers.py": False,
    "model/readings.py": True,
    "operations/movement/slices/readings.py": True,
    "specs/loader.py": True,
    "suite/selection/hints.py": False,
    "suite/path_kind.py": False,
    "suite/manifest.py": True,
    "tensors/npz.py": True,
}


def path_of(module: str) -> Path | None:
    """The file of a module of the package, or None where the name is not a module's."""
    stem = PACKAGE / module.removeprefix("opconform").lstrip(".").replace(".", "/")
    return next((x for x in (stem.with_suffix(".py"), stem / "__init__.py") if x.is_file()), None)


def imported(module: str, known: set[Path]) -> set[Path]:
    """The files of a module and of all that it imports of the package."""
    path = path_of(module)
    if path is None or path in known:
        return known
    known.add(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("opconform"):
            for name in (node.module, *(f"{node.module}.{name.name}" for name in node.names)):
                imported(name, known)
    return known


def is_in_recipe(file: str) -> bool:
    """Whether a module, named by its path in the package, is one of the recipe's."""
    return any(file == part or file.startswith(f"{part}/") for part in RECIPE)


def test_every_module_that_generates_a_suite_is_in_the_recipe_or_decides_nothing() -> None:
    """All that expansion, writing and the header import; a new module has to be put on one side."""
    files: set[Path] = set()
    for module in ("expansion", "pipeline", "writer", "header"):
        imported(f"opconform.generation.{module}", files)
    names = {file.relative_to(PACKAGE).as_posix() for file in files}

    assert {name for name in names if not is_in_recipe(name)} == UNDECIDING


def test_the_recipe_has_only_modules_that_exist() -> None:
    """A folder or module that was renamed would leave the recipe unseen."""
    assert [x for x in RECIPE if not (PACKAGE / x).exists()] == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("recipe") / "opconform"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_every_room_is_named() -> None:
    """So that the next test says of a new room whether it belongs to the recipe."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

    assert {room.partition("/")[0] for room in ROOMS if "/" in room} == rooms


@pytest.mark.parametrize("module", ROOMS)
def test_code_changes_the_recipe_where_it_decides_bytes_and_a_comment_nowhere(copy: Path, module: str) -> None:
    """A statement, or a comment, at the end of one module of each room."""
    before, file = modules_digest(copy), copy / module
    source = file.read_text()
    changed = []
    for addition in ("# said of it\n", "\n\n_ADDED = 1\n"):
        file.write_text(source + addition)
        changed.append(modules_digest(copy) != before)
    file.write_text(source)

    assert changed == [False, ROOMS[module]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('x = "a"\n', 'x = "b"\n'),
        ('x = "#a"\n', 'x = "#b"\n'),
        ("x = '''\n# a\n'''\n", "x = '''\n# b\n'''\n"),
        ('x = """a\n\nb"""\n', 'x = """a\nb"""\n'),
        ('x = (\n    "a"\n    "b"\n)\n', 'x = (\n    "a"\n)\n'),
        ('x = "\\"#"  # a\n', 'x = "\\""  # a\n'),
        ("if x:\n    y\n", "if x:\n    y\nz\n"),
    ],
)
def test_what_decides_something_is_not_left_out(one: str, other: str) -> None:
    """Texts with signs of comments, quotes and empty lines in them."""
    assert code_of(one) != code_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1\n", "x = 1  # a\n"),
        ("x = 1\ny = 2\n", "x = 1\n\n# a\n\n\n    # b\ny = 2\n"),
        ("def f():\n    return 1\n", 'def f():  # a\n\n    # "b"\n    """Says\n\n    # it."""\n    return 1\n'),
        ("\nimport x\n", '# a\n\n"""Says it."""\n\nimport x\n'),
    ],
)
def test_comments_docstrings_and_empty_lines_are_left_out(one: str, other: str) -> None:
    """Wherever they are."""
    assert code_of(one) == code_of(other)


def by_tokens(source: str) -> str:
    """What `code_of` gives, by Python's own tokenizer, which takes eight times as long."""
    lines = dict(enumerate(source.split("\n"), 1))
    ends = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    before = tokenize.NEWLINE
    for token, after in pairwise(tokenize.generate_tokens(io.StringIO(source).readline)):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            lines[row] = lines[row][:column].rstrip()
        elif token.type == tokenize.NL and not lines[row].strip():
            del lines[row]
        elif token.type == tokenize.STRING and before in ends and after.type == tokenize.NEWLINE:
            for index in range(row, token.end[0] + 1):
                del lines[index]
        before = token.type
    return "\n".join(lines.values())


@pytest.mark.parametrize("room", RECIPE)
def test_the_code_of_every_module_is_what_its_tokens_are(room: str) -> None:
    """A second program, which knows Python's grammar, leaves out the same."""
    files = [PACKAGE / room] if room.endswith(".py") else sorted((PACKAGE / room).rglob("*.py"))
    for file in files:
        assert code_of(file.read_text()).strip("\n") == by_tokens(file.read_text()).strip("\n"), file
