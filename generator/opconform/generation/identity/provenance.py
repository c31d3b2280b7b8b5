"""The provenance of a suite: whether the shipped specs give exactly this suite, or its inputs give its goldens."""

import math
import sys
from collections.abc import Mapping
from dataclasses import fields, replace

import opconform
from opconform.dialects import check_renderable
from opconform.errors import SuiteError, UsageError
from opconform.generation.case_files import expected_arrays, expected_outputs
from opconform.generation.identity.header import suite_header
from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import evaluated_entries
from opconform.model.evaluation import evaluated, inferred, operand_of
from opconform.model.golden import compared_feeds
from opconform.model.graph_operation import operation_of_graph
from opconform.model.other_elements import with_other_elements, with_readings_of_nodes
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Rejection
from opconform.specs.every.groups import digest_of
from opconform.specs.index import shipped_files
from opconform.specs.loader import load_specs
from opconform.suite.case import Accept, Case, Reject
from opconform.suite.file_names import CASE
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.suite.selection.selection import Selection
from opconform.system.memory import check_memory
from opconform.tensors.npz import npz_bytes
from opconform.tensors.tensor import Array, Tensor


def foreign_specs(specs: Mapping[str, str]) -> list[str]:
    """The names of the spec files, given with their SHA-256, that opconform does not ship."""
    shipped = shipped_files()
    return sorted(name for name, digest in specs.items() if name not in shipped or digest_of(shipped[name]) != digest)


def check_provenance(suite: Suite) -> None:
    """Check that a suite is what the shipped specs generate: its header, its cases, and all digests of files.

    Every case is evaluated again. `verification` checks the files against these digests.
    """
    header = suite.header
    profiles = tuple(sorted({entry.profile for entry in suite.entries}))
    specs = load_specs([shipped_files()[name] for name in header.specs])
    unknown = sorted(set(profiles) - {group.settings.profile for spec in specs for group in spec.groups})
    if unknown or not suite.entries:
        raise SuiteError(_sentence(suite, f"profile {unknown[0]}" if unknown else "no cases"))
    check_renderable(header.dialects)
    options = Options(
        seed=header.seed,
        dialects=tuple(header.dialects),
        blind=header.blind,
        selection=Selection(profiles=header.profiles or profiles, patterns=header.select),
        limits=replace(LIMITS, cases=sys.maxsize, elements=sys.maxsize),  # the specs are the shipped ones
    )
    evaluated = set()
    try:
        for entry in evaluated_entries(specs, options):
            evaluated.add(entry.id)
            written = suite.by_id.get(entry.id)
            if written != entry:
                raise SuiteError(_sentence(suite, _difference(written, entry)))
    except UsageError as error:  # a part of its selection matches no case
        raise SuiteError(_sentence(suite, "suite.json (select)")) from error
    foreign = sorted(suite.by_id.keys() - evaluated)
    if foreign:
        raise SuiteError(_sentence(suite, foreign[0]))
    true = replace(
        suite_header(specs, options, counts=header.counts, cases=header.cases, digest=header.digest),
        left_out=header.left_out,  # as the manifest has it
        generator=header.generator,
        recipe=header.recipe,
        checksum=header.checksum,
    )
    if true != header:
        names = ", ".join(
            field.name for field in fields(true) if getattr(true, field.name) != getattr(header, field.name)
        )
        raise SuiteError(_sentence(suite, f"suite.json ({names})"))


def check_goldens(suite: Suite) -> None:
    """Check that the reference semantics give the expectations of a suite for its inputs, or raise `SuiteError`."""
    for entry in suite.entries:
        for item in (entry, entry.neighbour_check):
            if item is not None:
                _check_golden(suite, item)


def _check_golden(suite: Suite, entry: Entry) -> None:
    case, where = suite.case(entry), f"{suite.store.root}: {entry.id}"
    inputs: list[dict[str, Tensor]] = []
    feeds: list[dict[str, Tensor]] = []
    for feed in range(case.feeds):
        rejected = case.expect.reject if isinstance(case.expect, Reject) and feed == case.feeds - 1 else None
        try:
            inputs.append(_inputs(case, suite.arrays(entry, inputs_name(feed)), where))
            feeds.append(evaluated(case.graph, inputs[feed]))
        except Rejection as rejection:
            if rejected not in rejection.requirements:
                violated = ", ".join(rejection.requirements)
                raise SuiteError(f"{where}: the reference semantics reject feed {feed} for {violated}.") from rejection
            continue
        except (LookupError, TypeError, ValueError) as error:
            raise SuiteError(f"{where}: the reference semantics cannot evaluate its graph.") from error
        if rejected is not None:
            raise SuiteError(f"{where}: the reference semantics accept feed {feed}, but {CASE} names {rejected}.")
    if isinstance(case.expect, Reject):
        return
    expected = compared_feeds(case.graph, inputs, feeds)
    if case.id.endswith(f"/{NEIGHBOUR_CHECK}"):
        expected = with_readings_of_nodes(case.graph, feeds, expected) if case.tests_graph else expected
    elif case.tests_graph:
        operation = operation_of_graph(case.graph, [input_.name for input_ in case.inputs])
        expected = with_other_elements(operation, case.graph, feeds, expected)
    else:
        expected = with_other_elements(OPERATIONS[case.op], case.graph, feeds, expected)
    for feed, tensors in enumerate(expected):
        outputs = {f"output_{number}": tensors[name] for number, name in enumerate(case.graph.outputs)}
        _check_outputs(suite, entry, feed, outputs)


def _inputs(case: Case, arrays: Mapping[str, Array], where: str) -> dict[str, Tensor]:
    """The inputs of a case in one feed, once every tensor of its graph is known to fit into memory."""
    inputs = {
        input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs
    }
    operands = {input_.name: operand_of(inputs[input_.name], exact=input_.role == "setting") for input_ in case.inputs}
    widest = max((array.itemsize for array in arrays.values()), default=0)
    elements = sum(math.prod(x.shape) for x in inferred(case.graph, operands).values())
    check_memory(elements * widest, where)
    return inputs


def _check_outputs(suite: Suite, entry: Entry, feed: int, outputs: Mapping[str, Tensor]) -> None:
    where = f"{suite.store.root}: {entry.id}"
    if feed == 0 and suite.case(entry).expect != Accept(accept=expected_outputs(outputs)):
        raise SuiteError(f"{where}/{CASE}: the reference semantics give different outputs.")
    name, content = expected_name(feed), npz_bytes(expected_arrays(outputs))
    if not suite.header.blind and suite.read(entry, name) != content:
        raise SuiteError(f"{where}/{name} differs from the result of the reference semantics.")


def _difference(written: Entry | None, true: Entry) -> str:
    if written is None:
        return f"{true.id}, which is missing"
    files = [name for name in sorted({*written.files, *true.files}) if written.files.get(name) != true.files.get(name)]
    return f"{true.id}/{files[0]}" if files else f"the manifest's line of {true.id}"


def _sentence(suite: Suite, what: str) -> str:
    version = suite.header.generator
    advice = "" if version == opconform.__version__ else f", or check it with opconform {version}, which generated it"
    return (
        f"{suite.store.root} is not the suite that opconform {opconform.__version__} generates from its shipped specs: "
        f"{what} differs. Generate it again{advice}."
    )
