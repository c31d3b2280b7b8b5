"""The header of a generated suite."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from opconform import __version__
from opconform.dialects import DIALECTS
from opconform.generation.identity.recipe import recipe_digest
from opconform.generation.options import Options
from opconform.operations import OPERATIONS, SHIPPED
from opconform.specs.attribution import bits_of, profiles_of
from opconform.specs.group import Spec
from opconform.specs.requirements import requirements_of
from opconform.suite.case import GRAPH
from opconform.suite.manifest import Header, RequirementNote, Stage

#: The version of the shipped suites (docs/suite.md says what it promises). `cases/releases.json` has their digests.
SUITE_VERSION = "2.0.0"


def spec_digests(specs: Sequence[Spec]) -> dict[str, str]:
    """The SHA-256 of each spec by its name, which has no folders, since these differ between machines."""
    ordered = sorted(specs, key=lambda x: (x.op, x.file))
    return {f"{x.op}/{Path(x.file).name}": x.digest for x in ordered}


def suite_header(
    specs: Sequence[Spec],
    options: Options,
    *,
    counts: Mapping[str, int],
    cases: Mapping[str, Mapping[str, int]],
    digest: str,
) -> Header:
    """`suite.json` of the suite of some specs, with the counts and the digest of its manifest."""
    profiles, selected = profiles_of(specs), options.selection
    used = {profile for numbers in cases.values() for profile in numbers}
    known = {op: requirements_of(op) for op in sorted({spec.op for spec in specs})}
    establishes: dict[str, dict[Stage, tuple[str, ...]]] = {op: {**x.establishes} for op, x in known.items()}
    for op in known:
        if (bits := bits_of(op)) is not None:
            establishes[op]["bits"] = (bits,)
    return Header(
        version=SUITE_VERSION,
        generator=__version__,
        recipe=recipe_digest(options, tuple(op for op in known if op != GRAPH)),
        seed=options.seed,
        blind=options.blind,
        select=options.selection.patterns,
        profiles=tuple(sorted(selected.profiles)) if any(not selected.wants_profile(x) for x in used) else (),
        dialects={name: DIALECTS[name].model for name in options.dialects},
        specs=spec_digests(specs),
        specification={op: tuple(page.revision for page in x.pages) for op, x in known.items()},
        requirements={
            op: {
                requirement.id: RequirementNote(
                    level=requirement.level,
                    text=requirement.text,
                    violable=requirement.violable,
                    profiles=profiles.get((op, requirement.id), ()),
                )
                for requirement in x.requirements
            }
            for op, x in known.items()
        },
        establishes=establishes,
        declarations=tuple(OPERATIONS[op].declaration for op in sorted({*SHIPPED, *known} - {GRAPH})),
        uses={group.full_name: group.settings.uses for spec in specs for group in spec.groups if group.settings.uses},
        counts=counts,
        cases=cases,
        digest=digest,
    )
