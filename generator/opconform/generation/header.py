"""The header of a generated suite, and the recipe digest in it."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from opconform import __version__, dialects, operations
from opconform.dialects import DIALECTS, SHIPPED
from opconform.generation.options import Options
from opconform.operations import OPERATIONS
from opconform.resources import root
from opconform.specs.attribution import profiles_of
from opconform.specs.loader import Spec
from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import Header, RequirementNote, Stage

#: The version of the shipped suites: major for the format, minor for coverage, patch for a corrected case.
SUITE_VERSION = "1.4.0"
#: The packages that decide a suite's bytes, in addition to the specs and the modules beside these packages.
RECIPE_PACKAGES = ("dialects", "generation", "model", "operations", "specs", "suite", "tensors")


@cache
def recipe_digest(options: Options, ops: tuple[str, ...] = ()) -> str:
    """The SHA-256 of what decides a suite's bytes besides its specs: modules, model templates, and options.

    The modules of installed distributions are among them if they declare one of its dialects or of `ops`.
    """
    digest = hashlib.sha256(repr((options.seed, options.dialects, options.blind)).encode())
    package, templates = Path(__file__).parents[1], Path(str(root() / "templates"))
    modules = [*package.glob("*.py"), *(each for name in RECIPE_PACKAGES for each in (package / name).glob("*.py"))]
    models = [each for name in SHIPPED for each in (templates / name).glob("*.j2")]
    for folder, files in ((package, modules), (templates, models)):
        for file in sorted(files):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    installed = [*map(dialects.sources_of, options.dialects), *map(operations.sources_of, ops)]
    for file in (each for files in installed for each in files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def spec_digests(specs: Sequence[Spec]) -> dict[str, str]:
    """The SHA-256 of each spec by its name, which has no folders, since these differ between machines."""
    ordered = sorted(specs, key=lambda each: (each.op, each.file))
    return {f"{each.op}/{Path(each.file).name}": each.digest for each in ordered}


def suite_header(specs: Sequence[Spec], options: Options, *, counts: Mapping[str, int], digest: str) -> Header:
    """`suite.json` of the suite of some specs, with the counts and the digest of its manifest."""
    profiles = profiles_of(specs)
    known = {op: requirements_of(op) for op in sorted({each.op for each in specs})}
    establishes: dict[str, dict[Stage, tuple[str, ...]]] = {op: {**each.establishes} for op, each in known.items()}
    for op in known:
        if (bits := OPERATIONS[op].bits) is not None:
            establishes[op]["bits"] = (bits,)
    return Header(
        version=SUITE_VERSION,
        generator=__version__,
        recipe=recipe_digest(options, tuple(known)),
        seed=options.seed,
        blind=options.blind,
        select=options.selection.patterns,
        dialects={name: DIALECTS[name].model for name in options.dialects},
        specs=spec_digests(specs),
        specification={op: tuple(page.revision for page in each.pages) for op, each in known.items()},
        requirements={
            op: {
                one.id: RequirementNote(
                    level=one.level, text=one.text, violable=one.violable, profiles=profiles.get((op, one.id), ())
                )
                for one in each.requirements
            }
            for op, each in known.items()
        },
        establishes=establishes,
        counts=counts,
        digest=digest,
    )
