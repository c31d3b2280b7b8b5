"""A suite of four cases for tests of devices, and its cases as a backend is given them."""

import json
from pathlib import Path

from opconform.suite.case import harness_text
from opconform.suite.declarations import DeclaredCase, declared_case_from
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Inputs
from tests.conftest import Run, whole
from tests.two_dialects import REJECTED, suite_in_two_dialects

SPEC = """\
op: VariadicSplit-1
groups:
  - id: accepted
    title: data from outside and data that is a constant of the model
    requirements: [outputs.order]
    matrix: {context: [bare, folded]}
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [1, 2, 3]
    context: ${{ context }}
"""


def device_suite(opconform: Run, folder: Path) -> Suite:
    """The suite, generated beside its `spec.yaml`: three accepted cases, one of them folded, and one rejected."""
    return open_suite(suite_in_two_dialects(opconform, folder, whole(SPEC + REJECTED)))


def given(suite: Suite, context: str, model: str) -> tuple[DeclaredCase, Path, list[Inputs]]:
    """The valid case in a context, as a backend is given it."""

    def is_wanted(entry: Entry) -> bool:
        return "/accepted/" in entry.id and suite.case(entry).context == context

    [entry] = filter(is_wanted, suite.entries)
    case = declared_case_from(json.loads(harness_text(suite.case(entry), suite.declarations)))
    arrays = suite.arrays(entry, inputs_name(0))
    feed = {input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs}
    return case, Path(str(suite.store.root)) / entry.id / model, [feed]
