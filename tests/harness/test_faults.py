"""Faults of backends and harnesses: the case has its verdict, and the run ends."""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import MINIATURES, Run
from tests.result_files import report_in
from tests.sampling import in_line

#: The faults that only the lapse of time shows; the others are given time enough on a busy machine.
SILENT = {"Hangs"}


def verdicts(
    opconform: Run, suite: Path, out: Path, *arguments: object, code: int = 1, timeout: int = 60
) -> tuple[Any, list[Any]]:
    """The result of the case [2, 2, 2], and those of the others."""
    opconform("run", suite, "--out", out, "--timeout", timeout, *arguments, code=code)
    report = report_in(out)
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert lines[-1]["footer"] is True
    assert lines[1:-1] == report["cases"]
    odd = [case for case in report["cases"] if case["verdict"] != "pass"]
    return report, odd


#: The line of `Raises` that raises.
RAISES = 1 + MINIATURES.read_text().splitlines().index('            raise KeyError("lost")')


BACKEND_FAULTS = {
    "Aborts": (
        "fail",
        "crash",
        "the backend process was terminated by SIGSEGV; end of its standard error: about to fall over",
    ),
    "Leaks": (
        "fail",
        "crash",
        "the backend process was killed when it took more than 0.5 GiB of memory",
    ),
    "Hangs": ("fail", "timeout", "no answer within 3 seconds"),
    "Raises": ("error", None, f"miniatures.py:{RAISES}: KeyError: 'lost'"),
}


@pytest.mark.parametrize("name", in_line(BACKEND_FAULTS, "Aborts", "Raises"))
def test_a_backend_fault_costs_one_case(opconform: Run, small_suite: Path, tmp_path: Path, name: str) -> None:
    """A crash, a hang, a leak or an exception."""
    arguments = ["--backend", f"{MINIATURES}:{name}", "--memory", "0.5"]
    _, odd = verdicts(opconform, small_suite, tmp_path, *arguments, timeout=3 if name in SILENT else 60)

    assert [(x["verdict"], x.get("reason"), x["sentence"]) for x in odd] == [BACKEND_FAULTS[name]]


def test_memory_that_processes_share_counts_once(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Nine times 256 MiB by the simple count, and half a GiB is allowed."""
    arguments = ("--backend", f"{MINIATURES}:Forks", "--memory", "0.5")
    _, odd = verdicts(opconform, small_suite, tmp_path, *arguments, code=0)

    assert odd == []


@pytest.mark.ci_only
def test_a_crash_costs_one_case_with_several_harnesses(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The verdicts are the same as with one harness."""
    _, odd = verdicts(opconform, small_suite, tmp_path, "--backend", f"{MINIATURES}:Aborts", "--jobs", "2")

    assert [x["reason"] for x in odd] == ["crash"]


def test_output_of_a_backend_does_not_reach_the_protocol(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A backend may print to standard output."""
    report, odd = verdicts(opconform, small_suite, tmp_path, "--backend", f"{MINIATURES}:Chats", code=0)

    assert odd == []
    assert report["conformant"] is True


def test_a_failure_that_is_not_repeated_is_nondeterministic(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that fails once and passes in a fresh harness; both verdicts are kept."""
    monkeypatch.setenv("OPCONFORM_TEST_MARK", str(tmp_path / "mark"))
    _, odd = verdicts(opconform, small_suite, tmp_path / "out", "--backend", f"{MINIATURES}:RightTheSecondTime")

    assert [(x["reason"], x["again"]) for x in odd] == [("nondeterministic", "passed")]
    assert odd[0]["mismatch"]["reason"] == "value"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--harness", "/nonexistent/harness"],
            "error: /nonexistent/harness cannot be started: No such file or directory.",
        ),
        (["--harness", "false"], "error: The harness false cannot be started: it ended with code 1."),
        (
            ["--harness", "echo hello"],
            "error: The harness echo cannot be started: the harness wrote a line that is not JSON",
        ),
        (["--backend", f"{MINIATURES}:Missing"], f"error: {MINIATURES} does not define a class Missing.\n"),
        (["--backend", "numpy:TPU"], "The backend has no devices, but the device 'TPU' was named. Leave it out."),
    ],
)
def test_a_harness_that_cannot_be_started_ends_with_3(
    opconform: Run, small_suite: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """One sentence says why, and there is no report."""
    done = opconform("run", small_suite, "--out", tmp_path, *arguments, code=3)

    assert sentence in done.stderr
    assert not (tmp_path / "report.json").exists()


METHODS = "A backend has the methods describe() and run(case, model, feeds); see docs/new-backend.md."
#: The module of a backend that cannot be loaded, and why.
UNUSABLE = {
    "class Own(:": "The backend own.py:Own cannot be loaded: SyntaxError: invalid syntax (own.py, line 1).",
    "class Own:\n  pass": f"Own has no method describe(). {METHODS}",
    "class Own:\n  def describe(self): ...\n  def run(self, case): ...": f"Own has no method run(case, model, feeds). {METHODS}",
    "class Own:\n  def __init__(self):\n    self.lost()": (
        "The backend own.py:Own cannot be loaded: own.py:3: AttributeError: 'Own' object has no attribute 'lost'."
    ),
    "class Own:\n  def describe(self): return [1]\n  def run(self, case, model, feeds): ...": (
        "describe() of own.py:Own must return an Implementation, but returned [int]."
    ),
    "from opconform_runners.backends.numpy.backend import Numpy\nclass Own(Numpy):\n"
    "  def describe(self):\n    from dataclasses import replace\n"
    "    return replace(super().describe(), element_types=('float32',))": (
        "The harness own.py:Own cannot be started: it declares the element type 'float32', which does not exist "
        "(did you mean 'f32'?); see docs/protocol.md."
    ),
    "from opconform_runners.backends.numpy.backend import Numpy\nclass Own(Numpy):\n"
    "  def describe(self):\n    from dataclasses import replace\n"
    "    return replace(super().describe(), operations=('Split',))": (
        "The harness own.py:Own cannot be started: it declares the operation 'Split' without a version, as in Split-1; "
        "see docs/protocol.md."
    ),
    "from opconform_runners.backends.numpy.backend import Numpy\nclass Own(Numpy):\n"
    "  def describe(self):\n    from dataclasses import replace\n"
    "    return replace(super().describe(), operations=())": (
        "The harness own.py:Own cannot be started: it declares neither dialects nor operations; see docs/protocol.md."
    ),
    "class Onw: ...": "own.py does not define a class Own. Did you mean 'Onw'?",
    "import atexit, sys\natexit.register(print, 'bye', file=sys.stderr)": "own.py does not define a class Own.",
    "import os\nprint('no licence', flush=True)\nos._exit(4)": (
        "The harness own.py:Own cannot be started: it ended with code 4; end of its standard error: no licence."
    ),
}


#: Those that are tried with every run of the tests; each takes a process.
SAMPLE = (
    "class Own(:",
    "class Own:\n  pass",
    "class Onw: ...",
    "import os\nprint('no licence', flush=True)\nos._exit(4)",
)


@pytest.mark.parametrize(
    "source", [source if source in SAMPLE else pytest.param(source, marks=pytest.mark.ci_only) for source in UNUSABLE]
)
def test_a_backend_that_cannot_be_loaded_is_explained_in_one_sentence(
    opconform: Run, small_suite: Path, tmp_path: Path, source: str
) -> None:
    """Without the traceback that the harness wrote."""
    (tmp_path / "own.py").write_text(f"{source}\n")
    done = opconform("run", small_suite, "--backend", "own.py:Own", "--out", "out", cwd=tmp_path, code=3)

    assert done.stderr == f"error: {UNUSABLE[source]}\n"


def test_a_missing_module_of_a_backend_is_named(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """With the interpreter that lacks it, with and without --python."""
    (tmp_path / "own.py").write_text("import nosuchmod.part\n")
    arguments = ("run", small_suite, "--backend", "own.py:Own", "--out", "out")
    own, _, python = opconform(*arguments, cwd=tmp_path, code=3).stderr.rpartition(" ")
    other = opconform(*arguments, "--python", sys.executable, cwd=tmp_path, code=3).stderr

    assert own == "error: own.py:Own needs the module nosuchmod, which is not installed in"
    assert Path(python).parent == Path(sys.executable).parent
    assert other == f"{own} {sys.executable}.\n"


def test_a_module_of_the_current_folder_is_no_backend(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Only installed modules are named by their names."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "kernel.py").write_text("from opconform_runners.backends.numpy.backend import Numpy as Own\n")
    done = opconform("run", small_suite, "--backend", "own.kernel:Own", "--out", "out", cwd=tmp_path, code=3)

    assert done.stderr == (
        f"error: own.kernel:Own needs the module own, which is not installed in {sys.executable}. "
        "Name a module that is not installed by its file, as path/file.py:ClassName.\n"
    )


#: What `run` gives for a case of three outputs, and what is said of it.
MISRETURNED = {
    "None": "None",
    "[None]": "[None]",
    "outputs[0]": "[Tensor, Tensor, Tensor]",
    "[[each.array for each in outputs[0]]]": "[[ndarray, ndarray, ndarray]]",
    "iter(outputs)": "list_iterator",
    "[outputs[0] + ['a', 'b']]": "[[Tensor, Tensor, Tensor, …]]",
}
MISMADE = {
    "outputs * 2": "run() returned outputs for 2 feeds instead of 1",
    "[[Tensor(element_type='float', array=None)]]": "run() returned a Tensor of 'float', which is not an element type",
    "[[Tensor(element_type='f32', array=[1.0])]]": "run() returned a Tensor whose array is a list; it must be a numpy array",
    "[[Tensor(element_type='f16', array=outputs[0][0].array.astype(complex))]]": (
        "run() returned a Tensor of f16 with an array of complex128, which no element type is stored as"
    ),
}


def test_wrong_return_values_of_run_are_explained(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """In one sentence each."""
    must = "run() must return a list with the outputs of each feed, each a list of Tensors, but returned"
    wanted = {**{key: f"{must} {shown}" for key, shown in MISRETURNED.items()}, **MISMADE}
    for number, (given, sentence) in enumerate(wanted.items()):
        (tmp_path / "misreturned.py").write_text(
            "from opconform.tensors.tensor import Tensor\n"
            "from opconform_runners.backends.numpy.backend import Numpy\n\n\n"
            "class Own(Numpy):\n"
            "    def run(self, case, model, feeds):\n"
            "        outputs = super().run(case, model, feeds)\n"
            f"        return {given}\n"
        )
        arguments = ("--backend", tmp_path / "misreturned.py:Own", "--select", "VariadicSplit-1/accepted")
        report, odd = verdicts(opconform, small_suite, tmp_path / str(number), *arguments)

        assert [(x["verdict"], x["sentence"]) for x in odd] == [("error", sentence)] * 4
        assert report["conformant"] is None


def test_promoted_outputs_are_the_backends_failure(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Of a valid case the wrong element type, and of an invalid one that it was accepted."""
    (tmp_path / "misreturned.py").write_text(
        "from opconform.tensors.tensor import Tensor\n"
        "from opconform_runners.backends.backend import Rejected\n"
        "from opconform_runners.backends.numpy.backend import Numpy\n\n\n"
        "class Own(Numpy):\n"
        "    def run(self, case, model, feeds):\n"
        "        try:\n"
        "            outputs = super().run(case, model, feeds)\n"
        "        except Rejected:\n"
        "            outputs = [[feeds[0]['data']]]\n"
        "        return [[Tensor(element_type='f32', array=each.array.astype('f8')) for each in outputs[0]]]\n"
    )
    report, odd = verdicts(opconform, small_suite, tmp_path / "out", "--backend", tmp_path / "misreturned.py:Own")

    assert [(x["reason"], x["sentence"]) for x in odd] == [
        *[("element-type", "output_0: expected f32, got float64 in the file")] * 5,
        (
            "accepted-invalid",
            "accepted, although it violates lengths.single-remainder; its outputs have the shapes [6, 4]",
        ),
    ]
    assert report["conformant"] is False


def test_an_exception_has_the_last_line_of_the_backends_own_file(
    opconform: Run, small_suite: Path, tmp_path: Path
) -> None:
    """Wherever below that line it was raised."""
    (tmp_path / "misreturned.py").write_text(
        "import json\nfrom opconform_runners.backends.numpy.backend import Numpy\n\n\n"
        "class Own(Numpy):\n    def run(self, case, model, feeds):\n        return json.loads('')\n"
    )
    arguments = ("--backend", tmp_path / "misreturned.py:Own", "--select", "VariadicSplit-1/accepted")
    _, odd = verdicts(opconform, small_suite, tmp_path / "out", *arguments)

    sentence = "misreturned.py:7: JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    assert {x["sentence"] for x in odd} == {sentence}


def test_a_backend_in_a_python_without_opconform_runs(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """`--python` takes opconform along into an interpreter that has only its dependencies."""
    venv.create(tmp_path / "venv")
    [bare] = (tmp_path / "venv").glob("lib/python*/site-packages")
    for path in Path(np.__file__).parents[1].iterdir():
        if "opconform" not in path.name:
            (bare / path.name).symlink_to(path)
    python = tmp_path / "venv" / "bin" / "python"
    report, odd = verdicts(opconform, small_suite, tmp_path / "out", "--backend", "numpy", "--python", python, code=0)

    assert subprocess.run([python, "-I", "-c", "import opconform"], capture_output=True, check=False).returncode == 1
    assert odd == []
    assert report["implementation"]["name"] == "numpy"
