"""How each output of a graph under test differs, by itself."""

from collections.abc import Sequence
from dataclasses import replace

from opconform.suite.case import Output
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.alternatives import nearest_right, open_elements
from opconform_runners.verdicts.comparison import Mismatch, mismatches_of, output_number


def graph_outputs(suite: Suite, entry: Entry, outcome: Returned, outputs: Sequence[Output]) -> tuple[Mismatch, ...]:
    """The first difference of each output of a graph, or of its nodes side by side, with the readings that give it."""
    found: dict[str | None, Mismatch] = {}
    for feed, actual in enumerate(outcome.outputs):
        golden = suite.golden(entry, feed)
        mismatches = mismatches_of(
            nearest_right([golden[output.name] for output in outputs], actual, suite.also(entry, feed)),
            actual,
            [output.element_type for output in outputs],
            bounds=suite.bounds(entry, feed),
            reduced=suite.reduced(entry, feed),
            stated=outcome.element_types[feed] if outcome.element_types else None,
        )
        for mismatch in mismatches:
            found.setdefault(mismatch.output, replace(mismatch, feed=feed))
    return tuple(_with_readings(suite, entry, outcome, outputs, mismatch) for mismatch in found.values())


def _with_readings(
    suite: Suite, entry: Entry, outcome: Returned, outputs: Sequence[Output], mismatch: Mismatch
) -> Mismatch:
    if mismatch.output is None:
        return mismatch
    read = open_elements(suite, entry, outcome.outputs, outputs, only=output_number(mismatch.output))
    return replace(mismatch, readings=read.readings, open=read.open)


def reading_text(name: str) -> str:
    """A reading as a sentence has it: in a graph, with the nodes that are read otherwise."""
    requirement, _, nodes = name.partition("@")
    where = "several nodes" if nodes == "*" else nodes.replace("+", ", ")
    return f"{requirement} ({where})" if nodes else requirement
