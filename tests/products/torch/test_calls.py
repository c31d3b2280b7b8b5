"""The PyTorch calls of a case, recorded from the backend's rows where PyTorch is missing."""

import json
import subprocess
from pathlib import Path

import pytest

from opconform.errors import UsageError
from opconform.suite.reader import open_suite
from opconform_products.torch.repro.expression import Expression
from opconform_runners.tools.repro.script import script_of
from tests.backends.known_findings import sample_for
from tests.conftest import Run, interpreter_with
from tests.sampling import WHOLE

DATA = Expression("data", shape=(2, 3), dtype=Expression("torch.float32"))
#: Executes the scripts of a folder, and prints how each of them ends.
EXECUTION = """\
import contextlib, io, json, pathlib, sys
ends = {}
for path in pathlib.Path(sys.argv[1]).glob("*.py"):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(path.read_text(), path.name, "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        ends[path.stem] = int(end.code)
print(json.dumps(ends))
"""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (DATA.permute((1, 0)), "data.permute((1, 0))"),
        (Expression("torch").cat([DATA, DATA], dim=0), "torch.cat([data, data], dim=0)"),
        (DATA[None, ..., 1:, :-1:2, 0], "data[None, ..., 1:, :-1:2, 0]"),
        (DATA[()], "data[()]"),
        (Expression("torch").unique(DATA)[0], "torch.unique(data)[0]"),
        (DATA < 0, "data < 0"),
        ([*Expression("torch").tensor_split(DATA, 2)], "[*torch.tensor_split(data, 2)]"),
        (DATA.dtype, "torch.float32"),
        (DATA.shape, "(2, 3)"),
    ],
)
def test_what_is_done_with_an_expression_is_an_expression(source: object, text: str) -> None:
    """As Python writes it; the shape and the type of a tensor are known."""
    assert repr(source) == text
    assert DATA.dtype == Expression("torch").float32 != Expression("torch").int32


@pytest.mark.parametrize(
    ("case", "lines"),
    [
        ("Concat-1/axis-beside-the-range/5fab215b29", ["concat = [torch.cat([inputs_0, inputs_1], dim=0)]"]),
        (
            "Gather-8/axis-values/63e863bcad",
            ["gather = [data.permute((2, 0, 1))[indices].permute((1, 2, 0))]", "return [*gather]"],
        ),
        (
            "GatherND-8/beyond-the-ends/4293005c78",
            [
                "indices = torch.tensor([[0, 2], [1, 1]], dtype=torch.int64)",
                "gather_nd = [data[indices[..., 0], indices[..., 1]]]",
            ],
        ),
        (
            "Pad-12/beyond-reflect/15de631974",
            ["pad = [torch.nn.functional.pad(data[None, None], [0, 0, 4, 0], 'reflect')[0, 0]]"],
        ),
        (
            "Reshape-1/contexts/c51b717a79",
            [
                "reshape = [torch.reshape(data, [13, 3])]",
                "concat = [torch.cat([reshape[0], reshape[0]], dim=0)]",
                "return [reshape[0], concat[0]]",
            ],
        ),
        ("Range-4/empty/0b9fedd6e8", ["range_ = [torch.arange(3, -5, 1, dtype=torch.int64)]"]),
        ("Slice-8/contexts/94cf1f5ae3", ["slice_ = [data[:, 1:12:1]]"]),
        ("Split-1/axis-beside-the-range/0563bc3e14", ["split = [*torch.tensor_split(data, 2, dim=3)]"]),
        ("Transpose-1/blocks/1bd389b044", ["transpose = [torch.permute(arg, [0, 2, 3, 1])]"]),
    ],
)
@pytest.mark.ci_only
def test_a_script_makes_the_calls_of_the_backend(core_suite: Path, case: str, lines: list[str]) -> None:
    """Settings are Python's own, and those that the backend takes as tensors are variables."""
    suite = open_suite(core_suite)
    script = script_of(suite, suite.by_id[case], "torch", (), None)

    assert "\n".join(f"    {line}" for line in lines) in script


@pytest.mark.parametrize(
    ("group", "why"),
    [
        ("Split-1/uneven/", "the arguments violate num_splits.divides"),
        ("Reshape-1/contexts/", "shape is given at run time, and torch takes Python's numbers"),
        ("Pad-12/limits/", "the framework has no mode symmetric"),
    ],
)
@pytest.mark.ci_only
def test_what_the_backend_does_not_call_pytorch_for_has_no_script(core_suite: Path, group: str, why: str) -> None:
    """The reason is the backend's."""
    suite = open_suite(core_suite)
    reasons = set()
    for entry in (entry for entry in suite.entries if entry.id.startswith(group)):
        try:
            script_of(suite, entry, "torch", (), None)
        except UsageError as error:
            reasons.add(str(error).partition(": ")[2])

    assert f"{why}." in reasons


@pytest.mark.ci_only
@pytest.mark.timeout(900)
def test_a_script_ends_as_the_backend_did(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """With 0 where it passed, 1 where it failed, and a signal where it crashed: every case that has a script.

    Of one in sixteen cases of the core and those of findings, and before a release of the whole core.
    """
    python = interpreter_with("torch", "OPCONFORM_PYTHON_TORCH")
    some = ("--select", "*/*/*0", *sample_for(core_suite, "torch"))
    run = ("run", core_suite, "--backend", "torch", "--python", python, *(() if WHOLE else some))
    opconform(*run, "--out", tmp_path / "out", code=None)
    results = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    suite, expected, crashing = open_suite(core_suite), {}, []
    for result in (result for result in results if result.get("verdict") in ("pass", "fail")):
        try:
            script = script_of(suite, suite.by_id[result["id"]], "torch", (), result.get("reason"))
        except UsageError:
            continue
        name = result["id"].replace("/", "_")
        if result.get("reason") == "crash":
            crashing.append(tmp_path / f"{name}.crashing")
            crashing[-1].write_text(script)
        else:
            (tmp_path / f"{name}.py").write_text(script)
            expected[name] = int(result["verdict"] == "fail")
    command = [python, "-c", EXECUTION, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    crashes = {path: subprocess.run([python, path], capture_output=True, check=False).returncode for path in crashing}

    assert len(expected) > (800 if WHOLE else 50)
    assert sum(expected.values()) > (10 if WHOLE else 0)
    assert crashing or not WHOLE
    assert json.loads(done.stdout) == expected
    assert [path for path, code in crashes.items() if code >= 0] == []


@pytest.mark.parametrize(
    ("group", "element_type", "call"),
    [
        ("Divide-1/element-types", "i32", "torch.div(a, b, rounding_mode='floor')"),
        ("Divide-1/element-types", "f32", "torch.div(a, b)"),
        ("TopK-11/order-of-equal-elements", "i32", "torch.topk(data, 2, 0, False, True)[1].to(torch.int64)"),
        ("TopK-11/equal-elements", "f32", "torch.sort(data, dim=1, descending=True, stable=True)[0].narrow(1, 0, 8)"),
    ],
)
@pytest.mark.ci_only
def test_a_script_for_pytorch_has_the_calls_of_the_backend(
    core_suite: Path, group: str, element_type: str, call: str
) -> None:
    """Of integers, too, whose quotients `torch.div` does not round unless it is told how, and of several outputs."""
    suite = open_suite(core_suite)
    cases = (x for x in suite.entries if x.id.startswith(f"{group}/") and x.expect == "accept")
    entry = next(x for x in cases if suite.case(x).inputs[0].element_type == element_type)

    assert call in script_of(suite, entry, "torch", (), None)
