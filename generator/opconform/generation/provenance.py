"""The provenance of a suite: a check that the shipped specs give exactly this suite."""

import sys
from collections.abc import Mapping
from dataclasses import fields, replace

import opconform
from opconform.dialects import check_renderable
from opconform.errors import SuiteError
from opconform.generation.header import suite_header
from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import evaluated_entries
from opconform.specs.loader import digest_of, load_specs, shipped_files
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.selection import Selection


def foreign_specs(specs: Mapping[str, str]) -> list[str]:
    """The names of the spec files, given with their SHA-256, that opconform does not ship."""
    shipped = {name: digest_of(path) for name, path in shipped_files().items()}
    return sorted(name for name, digest in specs.items() if shipped.get(name) != digest)


def check_provenance(suite: Suite) -> None:
    """Check that a suite of shipped specs is what these specs give: its header, its cases, and all digests of files.

    Every case is evaluated again. `verification` checks the files against these digests.
    """
    header = suite.header
    profiles = tuple(sorted({each.profile for each in suite.entries}))
    specs = load_specs([shipped_files()[name] for name in header.specs])
    unknown = sorted(set(profiles) - {group.settings.profile for spec in specs for group in spec.groups})
    if unknown or not suite.entries:
        raise SuiteError(_sentence(suite, f"profile {unknown[0]}" if unknown else "no cases"))
    check_renderable(header.dialects)
    options = Options(
        seed=header.seed,
        dialects=tuple(header.dialects),
        blind=header.blind,
        selection=Selection(profiles=profiles, patterns=header.select),
        limits=replace(LIMITS, cases=sys.maxsize, elements=sys.maxsize),  # the specs are the shipped ones
    )
    evaluated = set()
    for entry in evaluated_entries(specs, options):
        evaluated.add(entry.id)
        held = suite.by_id.get(entry.id)
        if held != entry:
            raise SuiteError(_sentence(suite, _difference(held, entry)))
    foreign = sorted(suite.by_id.keys() - evaluated)
    if foreign:
        raise SuiteError(_sentence(suite, foreign[0]))
    true = replace(
        suite_header(specs, options, counts=header.counts, digest=header.digest),
        generator=header.generator,
        recipe=header.recipe,
        checksum=header.checksum,
    )
    if true != header:
        names = ", ".join(each.name for each in fields(true) if getattr(true, each.name) != getattr(header, each.name))
        raise SuiteError(_sentence(suite, f"suite.json ({names})"))


def _difference(held: Entry | None, true: Entry) -> str:
    if held is None:
        return f"{true.id}, which is missing"
    files = [name for name in sorted({*held.files, *true.files}) if held.files.get(name) != true.files.get(name)]
    return f"{true.id}/{files[0]}" if files else f"the manifest's line of {true.id}"


def _sentence(suite: Suite, what: str) -> str:
    version = suite.header.generator
    other = "" if version == opconform.__version__ else f", or check it with opconform {version}, which it names"
    return (
        f"{suite.store.root} is not the suite that opconform {opconform.__version__} generates from its shipped specs: "
        f"{what} differs. Generate it again{other}."
    )
