"""The recipe of a suite: the digest of what decides its bytes besides its specs."""

import hashlib
import re
import tokenize
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from opconform import dialects, operations
from opconform.dialects import SHIPPED
from opconform.generation.options import Options
from opconform.system.resources import root

#: The modules of the package that decide a suite's bytes: every module of some folders, and single ones. The other
#: modules read, check and schedule, or say something about cases.
RECIPE = (
    "dialects",
    "generation/attribute_keys.py",
    "generation/graph_keys.py",
    "generation/case_files.py",
    "generation/expansion.py",
    "generation/identity/header.py",
    "generation/identity/known_digits.py",
    "generation/then_key.py",
    "generation/pairs",
    "generation/pipeline.py",
    "generation/identity/tensor_keys.py",
    "generation/validation.py",
    "generation/output/writer.py",
    "model",
    "operations",
    "specs",
    "suite/alternatives.py",
    "suite/bounds.py",
    "suite/case.py",
    "suite/declarations.py",
    "suite/file_names.py",
    "suite/manifest.py",
    "suite/names.py",
    "suite/selection/matches.py",
    "suite/selection/quick.py",
    "suite/selection/selection.py",
    "suite/storage/zip_file.py",
    "system/resources.py",
    "tensors",
)
_COMMENT = r"[ \t]*(?:#.*)?"
_LONG_TEXT = r'"""(?s:\\.|[^\\])*?"""'
_TEXT = rf"""{_LONG_TEXT}|\'\'\'(?s:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
#: In this order: a docstring, which begins a module or follows the colon of a definition; another text, which is kept
#: whatever is in it; a comment; empty lines.
_LEFT_OUT = re.compile(
    rf"(?:\A|(?P<colon>:){_COMMENT}\n)(?:{_COMMENT}\n)*[ \t]*r?{_LONG_TEXT}(?=\n)"
    rf"|(?P<text>{_TEXT})"
    r"|[ \t]*#.*"
    rf"|(?P<line>\n)(?:{_COMMENT}\n)+"
)


@cache
def recipe_digest(options: Options, ops: tuple[str, ...] = ()) -> str:
    """The SHA-256 of what decides a suite's bytes besides its specs: modules, model templates, and options.

    The modules of installed distributions are among them if they declare one of its dialects or of `ops`.
    """
    digest = hashlib.sha256(repr((options.seed, options.dialects, options.blind)).encode())
    templates = Path(str(root() / "templates"))
    digest.update(modules_digest(Path(__file__).parents[2]))
    digest.update(_digest(templates, (path for name in SHIPPED for path in (templates / name).glob("*.j2"))))
    installed = [*map(dialects.sources_of, options.dialects), *map(operations.sources_of, ops)]
    for file in (file for files in installed for file in files):
        digest.update(_digest(file.parent, [file]))
    return digest.hexdigest()


def modules_digest(package: Path) -> bytes:
    """The SHA-256 of the code that decides a suite's bytes, in the folder of the package `opconform`."""
    parts = [package / x for x in RECIPE]
    return _digest(package, (file for part in parts for file in ([part] if part.suffix else part.rglob("*.py"))))


def _digest(folder: Path, files: Iterable[Path]) -> bytes:
    digest = hashlib.sha256()
    for file in sorted(files):
        with tokenize.open(file) as stream:
            content = code_of(stream.read()) if file.suffix == ".py" else stream.read()
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + content.encode() + b"\0")
    return digest.digest()


def code_of(source: str) -> str:
    """The source of a module without comments, docstrings and empty lines.

    It is the same on every version of Python, unlike bytecode, tokens and syntax trees.
    """
    return _LEFT_OUT.sub(lambda match: match["colon"] or match["text"] or match["line"] or "", source)
