"""The harness in JavaScript gives the verdicts that the Python backend of the same runtime gives."""

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.backends.known_findings import findings_of
from tests.conftest import ROOT, Run
from tests.result_files import cases_in
from tests.sampling import SAMPLE, WHOLE

pytestmark = pytest.mark.ci_only

SOURCE = ROOT / "runners" / "javascript"
START = {"cmd": "start", "protocol": 1}

#: Prints at every request, by way of Node.js and past it as native code does.
CHATTER = """\
import { writeSync } from "node:fs";
const parse = JSON.parse;
JSON.parse = (text) => {
  console.log("hello");
  writeSync(1, "from below\\n");
  return parse(text);
};
"""


@pytest.fixture(scope="session")
def node() -> str:
    """The program `node`."""
    return shutil.which("node") or pytest.skip("node is not installed")


@pytest.fixture(scope="session")
def harness(node: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The command of the harness, in a copy in which its packages are installed."""
    npm = shutil.which("npm") or pytest.skip("npm is not installed")
    copy = tmp_path_factory.mktemp("harness") / "javascript"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("node_modules"))
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund"], cwd=copy, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"npm cannot install the harness's packages: {done.stderr.strip()}")
    assert not (copy / "package-lock.json").exists()
    yield node, str(copy / "main.js")
    shutil.rmtree(copy)  # some 300 MB, and pytest would keep them


def replies_to(command: Sequence[str], requests: Sequence[object]) -> list[Any]:
    """What a harness answers to requests that are sent all at once; `stop` ends it."""
    lines = [json.dumps(r) for r in (*requests, {"cmd": "stop"})]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(seq: int, folder: Path) -> dict[str, object]:
    """The request to execute whatever lies in a folder."""
    return {
        "cmd": "run",
        "seq": seq,
        "case": {"inputs": [{"name": "data", "element_type": "f32"}]},
        "dir": str(folder),
        "dialect": "onnx",
        "model": "onnx/model.onnx",
        "feeds": [{"inputs": "inputs.npz", "outputs": str(folder / "outputs.npz")}],
    }


def verdict(result: Any) -> tuple[str, str | None]:
    """A result's verdict, with the reason of a failure."""
    return result["verdict"], result.get("reason")


def lacks(result: Any) -> bool:
    """Whether a result shows what the binding cannot hold, or its runtime, which is older than Python's, does not have.

    That is a bf16 (ONNX's type 16), a string past its first NUL, a dimension of more than 32 bits, or `Where` of types
    that the newer one selects.
    """
    sentence = result.get("sentence", "")
    cut = re.search(r"'(\w*)\\x00\w+', got '\1';", sentence) is not None
    is_long = re.search(r": Tensor\.dims\[\d+\] is invalid: \S+$", sentence) is not None
    is_older = "Could not find an implementation for Where(16)" in sentence
    of_bf16 = sentence == "Unsupported data type: 16"
    return (verdict(result) == ("fail", "value") and cut) or is_long or is_older or of_bf16


@pytest.mark.parametrize("module", sorted(SOURCE.glob("*.js")), ids=lambda path: path.name)
def test_every_module_is_javascript(node: str, module: Path) -> None:
    """Node.js can read it."""
    done = subprocess.run([node, "--check", str(module)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_versions_are_exact() -> None:
    """There is no lock file, so each dependency names one version."""
    dependencies = json.loads((SOURCE / "package.json").read_text())["dependencies"]

    assert sorted(dependencies) == ["fflate", "onnxruntime-node"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", dependency) for dependency in dependencies.values())


def test_verdicts_are_those_of_the_python_backend(
    opconform: Run, harness: tuple[str, str], core_suite: Path, tmp_path: Path
) -> None:
    """Case by case, but for what the binding cannot hold, and what differs between two executions."""
    if find_spec("onnxruntime") is None:
        pytest.skip("onnxruntime is not installed")
    run = ("run", core_suite, "--select", SAMPLE)
    opconform(*run, "--backend", "onnxruntime", "--out", tmp_path / "python", code=None)
    opconform(*run, "--harness", " ".join(harness), "--out", tmp_path / "javascript", code=None)
    python, javascript = ({case["id"]: case for case in cases_in(tmp_path / name)} for name in ("python", "javascript"))

    verdicts = [x["verdict"] for x in javascript.values()]
    assert "error" not in verdicts
    assert verdicts.count("pass") > (2_000 if WHOLE else 20)
    varying = {finding.case for finding in findings_of("onnxruntime") if finding.varies is not None}
    differing = {name: x for name, x in javascript.items() if verdict(x) != verdict(python[name]) and not lacks(x)}
    assert {name: x for name, x in differing.items() if name not in varying} == {}


def test_a_missing_folder_is_an_error_and_the_next_case_is_served(harness: tuple[str, str], tmp_path: Path) -> None:
    """What is not there is the harness's fault to tell, and costs its case alone."""
    said, *replies = replies_to(harness, [START, request(1, tmp_path / "gone"), request(2, tmp_path / "gone")])

    message = f"ENOENT: no such file or directory, open '{tmp_path / 'gone' / 'inputs.npz'}'"
    assert said["implementation"]["language"] == "javascript"
    assert [(reply["seq"], reply["status"], reply["message"]) for reply in replies] == [
        (1, "error", message),
        (2, "error", message),
    ]


def npy(array: "np.ndarray[Any, Any]") -> bytes:
    """An array as numpy writes it."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def headed(descr: str, shape: str) -> bytes:
    """An array of no bytes with a header that numpy need not write."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header


REFUSED = {
    "big-endian": (npy(np.zeros(3, ">f4")), "data.npy has an unsupported header"),
    "fortran": (npy(np.zeros((2, 3), np.float32, order="F")), "data.npy has an unsupported header"),
    "pickled": (npy(np.array([{}], object)), "data.npy has an unsupported header"),
    "short": (npy(np.zeros(3, np.float32))[:-1], "data.npy declares the shape [3] of <f4, but contains 11 bytes"),
    "no array": (b"three", "data.npy is not a .npy file of version 1.0 or 2.0"),
    "a long dimension": (headed("<f4", "(9007199254740993, 0)"), "data.npy has a dimension beyond 2^53 - 1"),
    "strings of no length": (
        headed("<U0", "(4000000000,)"),
        "data.npy declares the shape [4000000000] of <U0, but contains 0 bytes",
    ),
    "another type": (npy(np.zeros(3, np.int32)), "data.npy contains <i4, but data is f32"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_an_array_is_read_strictly(harness: tuple[str, str], tmp_path: Path, fault: str) -> None:
    """Inputs of another form are refused, and not taken for something else."""
    content, message = REFUSED[fault]
    with zipfile.ZipFile(tmp_path / "inputs.npz", "w") as archive:
        archive.writestr("data.npy", content)
    (reply,) = replies_to(harness, [request(1, tmp_path)])

    assert reply["status"] == "error"
    assert reply["message"].startswith(message)


def test_what_is_printed_stays_out_of_the_replies(harness: tuple[str, str], tmp_path: Path) -> None:
    """Standard output holds replies only, whatever else prints."""
    chatter = tmp_path / "chatter.mjs"
    chatter.write_text(CHATTER)
    program, main = harness
    replies = replies_to([program, "--import", str(chatter), main], [START, request(1, tmp_path / "gone")])

    assert [reply.get("status") for reply in replies] == [None, "error"]


def test_inputs_that_are_compressed_take_no_memory(harness: tuple[str, str], tmp_path: Path) -> None:
    """64 KiB unpack to 64 MiB here, and to any size elsewhere; opconform never compresses arrays."""
    np.savez_compressed(tmp_path / "inputs.npz", data=np.zeros(1 << 24, np.float32))
    [_, reply] = replies_to(harness, [START, request(1, tmp_path)])

    assert (reply["status"], "data.npy is compressed, which no array is" in reply["message"]) == ("error", True)


def test_a_harness_without_its_packages_says_what_to_do(node: str, tmp_path: Path) -> None:
    """One sentence, and no stack."""
    copy = tmp_path / "javascript"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("node_modules"))
    done = subprocess.run([node, str(copy / "main.js")], input="", capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert re.fullmatch(
        rf"The backend cannot be loaded: Cannot find package '[\w-]+' imported from \S+\. Run `npm install` in {re.escape(str(copy))}\.\n",
        done.stderr,
    )
