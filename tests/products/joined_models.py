"""What tests of products that read models check: they execute models that are joined from several cases."""

import json
from pathlib import Path

from opconform.suite.case import harness_text
from opconform.suite.declarations import declared_case_from
from opconform.suite.reader import Suite
from opconform.tensors.npz import arrays_of
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Backend, PlacedOutputs
from opconform_runners.execution.packs.pack import Pack
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.verdict import Pass
from tests.execution.packs.conftest import splits_suite
from tests.execution.packs.test_joining import members_of


def executed(pack: Pack, suite: Suite, backend: Backend, folder: Path) -> Returned:
    """What a backend makes of a pack."""
    for name, content in pack.model(suite).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    case = declared_case_from(json.loads(harness_text(pack.case, suite.declarations)))
    types = {x.name: x.element_type for x in case.inputs}
    feeds = [
        {
            name: Tensor(element_type=types[name], array=array)
            for name, array in arrays_of(x, "it", limit=1 << 30).items()
        }
        for x in pack.inputs(suite)
    ]
    result = backend.run(case, folder / suite.header.dialects[str(pack.dialect)], feeds)
    outputs = result.outputs if isinstance(result, PlacedOutputs) else result
    return Returned(
        outputs=tuple(tuple(x.array for x in feed) for feed in outputs),
        element_types=tuple(tuple(x.element_type for x in feed) for feed in outputs),
        seconds=1.0,
    )


def check_joined_models(folder: Path, backend: Backend, feeds: int) -> None:
    """Check that every case of a pack gives the outputs that it has alone, with its own inputs, weights and types."""
    suite = splits_suite(folder)
    members = members_of(suite, backend.describe(), feeds)
    pack = Pack(members=tuple(members))
    parts = pack.parts(executed(pack, suite, backend, folder / "pack"))

    assert len(members) > 15 if feeds == 1 else len(members) == 2
    assert parts is not None
    for member, part in zip(members, parts, strict=True):
        assert first_verdict(suite, member.entry, member.case, part) == Pass()
        assert part.seconds == 1 / len(members)
