"""A forged suite is found by a certification, when its results are signed and when a certificate is checked."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opconform.generation.identity.provenance import check_provenance
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.index import shipped_files
from opconform.specs.loader import load_specs
from opconform.suite.file_names import MANIFEST
from opconform.suite.manifest import Header, entry_line
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.certificates.certificate import sign
from opconform_runners.certificates.keys import read_private, write_pair
from opconform_runners.cli.certificate import command as certificate_command
from opconform_runners.cli.certify import command as certify
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import run_suite
from opconform_runners.findings.report import report_of
from opconform_runners.harness.command import backend_command
from opconform_runners.reports.report_file import write_report
from tests.conftest import MINIATURES
from tests.forgery import forge, generator, seal
from tests.suite.test_suite import tree

#: A backend that gives what a forged suite expects.
BROKEN = f"{MINIATURES}:LosesAll"
EXAMPLES = (shipped_files()["Split-1/examples.yaml"], shipped_files()["VariadicSplit-1/examples.yaml"])


def ended(command: object, *arguments: object) -> Result:
    """The result of a command, executed in this process."""
    return CliRunner().invoke(command, [str(argument) for argument in arguments])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the pages' examples."""
    return generate(load_specs(EXAMPLES), tmp_path_factory.mktemp("genuine") / "suite", Options()).out


@pytest.fixture
def suite(genuine: Path, tmp_path: Path) -> Path:
    """A copy of it to forge."""
    return Path(shutil.copytree(genuine, tmp_path / "out" / "suite"))


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key; its public one is beside it."""
    name = tmp_path_factory.mktemp("keys") / "me"
    write_pair(name)
    return name.with_suffix(".key")


@pytest.mark.parametrize("change", [lambda header: header, generator("0.0.9")], ids=["same-build", "other-build"])
def test_certify_evaluates_every_golden(genuine: Path, suite: Path, change: Callable[[Header], Header]) -> None:
    """A backend that gives zeros fails although the suite that lay there expects them, and the suite is mended."""
    assert forge(suite, change) > 0
    done = ended(certify, *EXAMPLES, "--backend", BROKEN, "--out", suite.parent, "--jobs", "1")

    assert done.exit_code == 1
    assert "NOT CONFORMANT" in done.stdout
    assert tree(suite) == tree(genuine)


def with_every_case(header: Header) -> Header:
    """A header that says that there are cases for every requirement, without which nothing is certified."""
    notes = header.requirements.items()
    every = {op: {name: replace(x, profiles=("core",)) for name, x in of_op.items()} for op, of_op in notes}
    return replace(header, requirements=every)


def certified(suite: Path, key: Path) -> Path:
    """A certificate of a run on a forged suite, as an accomplice with the key would make it."""
    out, forged = suite.parent, seal(suite, (suite / MANIFEST).read_bytes(), with_every_case)
    run = run_suite(forged, backend_command(BROKEN), out, RunOptions(whole=True))
    write_report(out, report_of(run.header, run.results))
    assert sign(out, forged, read_private(key)).predicate.opconform.conformant
    return out / "certificate.json"


@pytest.mark.parametrize("change", [lambda header: header, generator("0.0.9")], ids=["same-build", "other-build"])
def test_a_certificate_of_a_forged_suite_is_refused(suite: Path, key: Path, change: Callable[[Header], Header]) -> None:
    """Though the suite is whole, the backend passed it and the signature is right."""
    forge(suite, change)
    certificate = certified(suite, key)
    shown = ("--key", key.with_suffix(".pub"), "--results", suite.parent, "--suite", suite)
    done = ended(certificate_command, "verify", certificate, *shown)

    assert done.exit_code == 1
    assert "is not the suite that opconform" in str(done.exception)
    assert "expected.npz differs" in str(done.exception)


def test_results_on_a_forged_suite_are_not_signed(suite: Path, key: Path) -> None:
    """Not even those of a run that was whole."""
    forge(suite)
    certified(suite, key).unlink()
    done = ended(certificate_command, "sign", suite.parent, "--key", key)

    assert done.exit_code == 1
    assert "expected.npz differs" in str(done.exception)
    assert not (suite.parent / "certificate.json").exists()


def without_a_case(suite: Path) -> None:
    """Leave one case out."""
    opened = open_suite(suite)
    shutil.rmtree(suite / opened.entries[0].id)
    seal(suite, b"".join(entry_line(entry).encode() for entry in opened.entries[1:]))


def with_another(**changes: object) -> Callable[[Path], None]:
    """Change the header."""
    return lambda suite: (None, seal(suite, (suite / MANIFEST).read_bytes(), lambda x: replace(x, **changes)))[0]  # type: ignore[arg-type]


def with_a_profile(suite: Path) -> None:
    """Have the cases be of a profile that no spec has."""
    seal(suite, "".join(entry_line(replace(entry, profile="mine")) for entry in open_suite(suite).entries).encode())


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        (without_a_case, "which is missing differs"),
        (with_a_profile, "profile mine differs"),
        (with_another(version="9.9.9"), r"suite.json \(version\) differs"),
        (with_another(specification={}), r"suite.json \(specification\) differs"),
        (with_another(blind=True), r"differs"),
    ],
)
def test_every_other_change_is_found(suite: Path, tamper: Callable[[Path], None], named: str) -> None:
    """Cases, profiles and header are those of the shipped specs."""
    tamper(suite)
    with pytest.raises(Exception, match=named):
        check_provenance(open_suite(suite))


@pytest.mark.parametrize(
    "options",
    [
        Options(seed=7, blind=True),
        Options(dialects=("openvino", "stablehlo")),
        Options(selection=Selection(patterns=("Split-1/*",))),
    ],
    ids=["seed-and-blind", "dialects", "selection"],
)
def test_a_genuine_suite_is_known(tmp_path: Path, options: Options) -> None:
    """The options and the build do not matter as long as the bytes are the same."""
    suite = generate(load_specs(EXAMPLES), tmp_path / "suite", options).out
    check_provenance(open_suite(suite))
    seal(suite, (suite / MANIFEST).read_bytes(), generator("0.0.9"))
    check_provenance(open_suite(suite))
