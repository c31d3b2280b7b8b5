"""Origins: the input elements that elements of the outputs should equal."""

import random
from pathlib import Path

from opconform.explanation.origins import Origin, origin_of
from opconform.operations import OPERATIONS
from opconform.suite.case import GRAPH, Accept
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite, open_suite

#: The operations that have elements of their own: padding, and zeros for indices that are out of range.
CREATING = {"ExtractImagePatches-3", "Pad-1", "Pad-12", "Gather-8", "SpaceToBatch-2"}


def accepted(suite: Suite) -> list[Entry]:
    """The valid cases of a suite whose model is the node of an operation under test alone."""
    cases = ((entry, suite.case(entry)) for entry in suite.entries)
    return [x for x, case in cases if case.is_bare and not case.tests_graph and isinstance(case.expect, Accept)]


def test_every_element_of_a_golden_output_equals_its_origin(any_core: Path) -> None:
    """Of one random element per case; only padding and what is out of range have no origin."""
    suite, source = open_suite(any_core), random.Random(0)  # noqa: S311 - seeded on purpose
    without, found = set[str](), set[str]()
    for entry in accepted(suite):
        inputs, golden = suite.arrays(entry, inputs_name(0)), suite.arrays(entry, expected_name(0))
        name = source.choice(sorted(golden))
        if not golden[name].size:
            continue
        at = tuple(source.randrange(size) for size in golden[name].shape)
        origin = origin_of(suite.case(entry), inputs, name, at)
        if origin is None:
            without.add(entry.op)
        else:
            found.add(entry.op)
            assert golden[name][at].tobytes() == inputs[origin.tensor][origin.at].tobytes(), entry.id

    assert found == {op for op in {entry.op for entry in suite.entries} - {GRAPH} if OPERATIONS[op].moves_data}
    assert without <= CREATING | {name for name, operation in OPERATIONS.items() if operation.can_calculate}


def test_an_element_that_does_not_exist_has_no_origin(small_suite: Path) -> None:
    """Results that were made with another suite may name any."""
    suite = open_suite(small_suite)
    entry = accepted(suite)[0]
    case, inputs = suite.case(entry), suite.arrays(entry, inputs_name(0))

    assert origin_of(case, inputs, "output_0", (0,) * len(case.inputs[0].shape)) == Origin(
        "data", (0,) * len(case.inputs[0].shape)
    )
    assert origin_of(case, inputs, "output_0", (99,) * len(case.inputs[0].shape)) is None
    assert origin_of(case, inputs, "output_0", ()) is None
    assert origin_of(case, inputs, "output_9", (0,)) is None
