"""Exit codes: 0 and 1 are verdicts, 2 a wrong command; and what a closed or full standard output does to them."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from opconform.errors import MissingError, OpconformError
from opconform_runners.cli.main import COMMANDS, cli
from tests.conftest import MINIATURES, ROOT

PROGRAM = Path(sys.executable).with_name("opconform")
FULL = Path("/dev/full")


def ended(*arguments: object) -> tuple[int, str]:
    """The exit code of a command in this process, and its last words."""
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if isinstance(done.exception, OpconformError):
        return done.exception.exit_code, str(done.exception)
    return done.exit_code, done.output


#: Each command that takes a path, with one that leads nowhere.
MISTYPED = [
    ("run", "nowhere", "--backend", "numpy"),
    ("run", "SUITE", "--backend", "numpy", "--baseline", "nowhere"),
    ("run", "SUITE", "--backend", "nowhere.py:Backend"),
    ("run", "SUITE", "--backend", "numpy", "--python", "nowhere"),
    ("run", "SPECS", "--backend", "numpy"),
    ("run", "SPEC", "--backend", "numpy"),
    ("verify", "SPEC"),
    ("verify", "nowhere"),
    ("list", "nowhere"),
    ("show", "Split-1/page-example/*", "--suite", "nowhere"),
    ("report", "nowhere"),
    ("diff", "nowhere", "nowhere"),
    ("merge", "nowhere", "--out", "new"),
    ("merge", "SPECS", "--out", "new"),
    ("merge", "SPEC", "--out", "new"),
    ("run", "nowhere", "--backend", "numpy", "--baseline", "new.txt", "--update-baseline"),
    ("certificate", "judge", "nowhere", "--suite", "SUITE"),
    ("certificate", "judge", "nowhere", "--suite", "nowhere"),
    ("certificate", "sign", "nowhere", "--key", "nowhere"),
    ("certificate", "verify", "nowhere", "--key", "nowhere"),
    ("generate", "nowhere", "--out", "new"),
    ("generate", "--backend", "nowhere.py:Backend", "--out", "new"),
    ("export", "nowhere", "--as", "numpy", "--out", "new"),
    ("support", "nowhere"),
    ("history", "nowhere.py:Backend", "--package", "numpy", "--out", "new"),
    ("from-model", "nowhere.onnx", "--out", "new"),
    ("certify", "nowhere", "--backend", "numpy", "--out", "new"),
    ("certify", "nowhere/a.yaml", "numpy", "--out", "new"),
    ("certify", "numpy", "nowhere", "--out", "new"),
    ("adequacy", "nowhere"),
    ("repro", "Split-1/page-example/*", "--backend", "openvino", "--suite", "nowhere"),
    ("repro", "Split-1/page-example/*", "openvino", "--as", "issue", "--history", "nowhere"),
    ("fuzz", "nowhere.py:Backend"),
]


@pytest.mark.parametrize("arguments", MISTYPED, ids=" ".join)
def test_a_mistyped_path_is_a_wrong_command(
    arguments: tuple[str, ...], small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with 2 and not with 1, which says that a backend is not conformant."""
    monkeypatch.chdir(tmp_path)
    known = {"SUITE": small_suite, "SPECS": small_suite.parent, "SPEC": small_suite.parent / "small.yaml"}
    code, said = ended(*(known.get(argument, argument) for argument in arguments))

    assert code == 2, said
    assert any(
        name in said
        for name in ("nowhere", "contains no suite.json", "is neither a folder nor a zip file", "is a spec, not a")
    )
    assert not [*tmp_path.iterdir()]


def test_every_command_with_a_path_is_tried() -> None:
    """But those whose only path is one to write, and those that take none."""
    tried = {name for x in MISTYPED for name in COMMANDS if (*x[:2],) == (*name.split(), *x[1:])[:2]}

    new = {"new operation", "new backend", "new harness"}
    assert set(COMMANDS) - tried == new | {
        *("certificate keygen", "backends", "schema", "harness check", "harness schema")
    }


def test_a_suite_that_lost_its_header_is_damaged_and_not_missing(small_suite: Path, tmp_path: Path) -> None:
    """`verify` ends with 1."""
    (tmp_path / "manifest.jsonl").write_bytes((small_suite / "manifest.jsonl").read_bytes())
    code, said = ended("verify", tmp_path)

    assert code == 1
    assert "contains no suite.json" in said
    assert issubclass(MissingError, OpconformError)


#: Each command with the limits that it takes.
LIMITED = [
    *(
        (*command, option)
        for command in (("run", "SUITE"), ("certify",), ("harness", "check"))
        for option in ("--timeout", "--memory")
    ),
    ("repro", "CASE", "--backend", "numpy", "--timeout"),
]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0", "-1", "1e999", "1e7", "soon"])
@pytest.mark.parametrize("arguments", LIMITED, ids=" ".join)
def test_a_limit_that_makes_no_sense_is_a_wrong_command(arguments: tuple[str, ...], value: str) -> None:
    """Before anything is done."""
    *command, option = arguments
    code, said = ended(*command, f"{option}={value}")

    assert code == 2
    assert f"{value!r} is not a number above 0 and at most 1,000,000." in said


def closed(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """A command whose standard output is not read. Only a process has a pipe of its own that can break."""
    process = subprocess.Popen(
        [PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, b"", errors)


@pytest.mark.parametrize(("name", "code"), [("Perfect", 0), ("LosesAll", 1)])
@pytest.mark.ci_only
def test_a_reader_that_leaves_does_not_change_the_verdict(
    small_suite: Path, tmp_path: Path, name: str, code: int
) -> None:
    """`opconform run … | head` ends with the code of the verdict, and has written all its files."""
    done = closed("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--out", tmp_path)

    assert (done.returncode, done.stderr) == (code, b"")
    assert (tmp_path / "report.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("schema",), marks=pytest.mark.ci_only),
        ("--help",),
        pytest.param(("list", "--json", ROOT / "cases" / "Split-1"), marks=pytest.mark.ci_only),
    ],
    ids=["schema", "help", "list"],
)
def test_a_reader_that_leaves_is_no_error(arguments: tuple[object, ...]) -> None:
    """What it does not read is dropped."""
    done = closed(*arguments)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [pytest.param(("schema",), marks=pytest.mark.ci_only), ("--help",)], ids=["schema", "help"]
)
def test_a_full_disk_while_printing_is_an_error(arguments: tuple[str, ...]) -> None:
    """In one sentence, and with 1."""
    with FULL.open("wb") as full:
        done = subprocess.run(
            [PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=300
        )

    assert (done.returncode, done.stderr) == (
        1,
        "error: Standard output cannot be written: No space left on device. Free some space, or redirect it elsewhere.\n",
    )


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_messages_that_cannot_be_written_are_dropped() -> None:
    """There is no stream left to report to."""
    with FULL.open("wb") as full:
        done = subprocess.run(
            [PROGRAM, "verify", "nowhere"], stdout=subprocess.PIPE, stderr=full, check=False, timeout=300
        )

    assert (done.returncode, done.stdout) == (2, b"")
