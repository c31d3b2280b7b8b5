"""How often PyTorch breaks the graph of each case when it compiles it. Run as a script: `PYTHON graph_breaks.py SUITE`."""

import contextlib
import json
import sys
from pathlib import Path

from torch._dynamo.utils import counters

from opconform.suite.case import harness_text
from opconform.suite.declarations import declared_case_from
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Tensor
from opconform_products.torch.backend import Torch
from opconform_runners.backends.backend import Rejected, Unsupported

suite, backend, breaks = open_suite(Path(sys.argv[1])), Torch("inductor"), {}
for entry in suite.entries:
    case = declared_case_from(json.loads(harness_text(suite.case(entry), suite.declarations)))
    arrays = suite.arrays(entry, inputs_name(0))
    feed = {input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs}
    counters.clear()
    with contextlib.suppress(Rejected, Unsupported):
        backend.run(case, None, [feed])
        breaks[entry.id] = sum(counters["graph_break"].values())
print(json.dumps(breaks))
