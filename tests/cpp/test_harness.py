"""The C++ harness: built as a backend's maker would build it, and judged as its Python twin is."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Run
from tests.cpp.builds import configured, openvino
from tests.sampling import SAMPLE, WHOLE

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(900)]  # a build, and two runs of a profile

#: The fields of a result other than its wording.
JUDGED = ("verdict", "reason", "broken", "stage", "late", "other_reason", "remarks")


@pytest.fixture
def harness(cpp: Path) -> Path:
    """The harness's program."""
    return cpp / "build" / "opconform-openvino"


@pytest.fixture
def talk(harness: Path) -> "Iterator[subprocess.Popen[str]]":
    """The harness as a process, spoken to line by line."""
    with subprocess.Popen([harness], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def reply(process: "subprocess.Popen[str]", request: object) -> dict[str, Any]:
    """What the harness answers a request."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def run_request(seq: int, folder: Path, outputs: Path) -> dict[str, Any]:
    """The request to run the case of a folder."""
    return {
        "cmd": "run",
        "seq": seq,
        "case": json.loads((folder / "case.json").read_text()),
        "dir": str(folder),
        "dialect": "openvino",
        "model": "openvino/model.xml",
        "feeds": [{"inputs": "inputs.npz", "outputs": str(outputs)}],
    }


def judged(out: Path) -> dict[str, dict[str, Any]]:
    """What each case's result says, by the case's id."""
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert results[-1].get("footer") is True
    return {result["id"]: {key: result.get(key) for key in JUDGED} for result in results[1:-1]}


def test_it_is_built_from_the_checkout(tmp_path: Path) -> None:
    """As its README says; the sources are those of an exported kit, which the other tests use."""
    assert (configured(ROOT / "runners" / "cpp", tmp_path, openvino()) / "CMakeCache.txt").exists()


def test_it_is_judged_as_the_python_backend_is(opconform: Run, harness: Path, core_suite: Path, tmp_path: Path) -> None:
    """Two harnesses of one runtime, which share no code, give the same verdicts for the same reasons."""
    run = ("run", core_suite, "--select", SAMPLE)
    opconform(*run, "--backend", "openvino", "--out", tmp_path / "python", code=1)
    opconform(*run, "--harness", harness, "--out", tmp_path / "cpp", code=1)
    python, cpp = judged(tmp_path / "python"), judged(tmp_path / "cpp")
    # A memory fault has another result in each execution, and ends the process in some of them.
    faults = {case for one in (python, cpp) for case, x in one.items() if x["reason"] == "nondeterministic"}
    faults |= {case for case in python if [python[case]["reason"], cpp[case]["reason"]].count("crash") == 1}
    # If a twin has such a fault, the case is inconclusive.
    faults |= {case for case in python if [python[case]["verdict"], cpp[case]["verdict"]].count("inconclusive") == 1}

    assert {"pass", "fail", "unsupported"} <= {x["verdict"] for x in python.values()}
    assert len(faults) < (30 if WHOLE else 15)
    assert cpp.keys() == python.keys()
    assert {case: (x, python[case]) for case, x in cpp.items() if x != python[case] and case not in faults} == {}


def test_it_describes_itself_as_the_python_backend_does(
    opconform: Run, harness: Path, small_suite: Path, tmp_path: Path
) -> None:
    """All but the language, so that the two are sent the same cases."""
    said = {}
    for name, option in (("python", "--backend=openvino"), ("c++", f"--harness={harness}")):
        opconform("run", small_suite, option, "--out", tmp_path / name)
        said[name] = json.loads((tmp_path / name / "report.json").read_text())["implementation"]

    assert said["c++"] == {**said["python"], "language": "c++"}


def test_an_unreadable_folder_is_an_error_and_it_goes_on(
    talk: "subprocess.Popen[str]", small_suite: Path, tmp_path: Path
) -> None:
    """A failure of the harness costs one case."""
    folder = min((small_suite / "VariadicSplit-1" / "accepted").iterdir())
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "case.json").write_bytes((folder / "case.json").read_bytes())
    (tmp_path / "damaged" / "inputs.npz").write_bytes((folder / "inputs.npz").read_bytes()[:-30])
    lost = {**run_request(1, folder, tmp_path / "1.npz"), "dir": str(tmp_path / "nowhere")}
    damaged = run_request(2, tmp_path / "damaged", tmp_path / "2.npz")
    silent = {"cmd": "run", "seq": 3}
    answers = [reply(talk, x) for x in (lost, damaged, silent, run_request(4, folder, tmp_path / "4.npz"))]

    assert [(answer["seq"], answer["status"]) for answer in answers] == [
        (1, "error"),
        (2, "error"),
        (3, "error"),
        (4, "ok"),
    ]
    assert answers[0]["message"] == f"{tmp_path}/nowhere/inputs.npz cannot be opened: No such file"
    assert answers[3]["element_types"] == [["f32", "f32", "f32"]]


def test_an_unknown_device_is_named(opconform: Run, harness: Path, small_suite: Path, tmp_path: Path) -> None:
    """A backend that cannot be started says why."""
    done = opconform("run", small_suite, "--harness", f"{harness} ABACUS", "--out", tmp_path, code=3)

    assert "The device ABACUS cannot be used" in done.stderr
