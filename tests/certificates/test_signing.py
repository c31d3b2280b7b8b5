"""What is signed, by which keys, and what is not."""

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from opconform_runners.certificates.keys import public_pem
from opconform_runners.verdicts.results import read_written, write_results
from tests.certificates.conftest import Certified, verification
from tests.conftest import MINIATURES, Run


@pytest.mark.parametrize("point", ["01" + 31 * "00", "ec" + 30 * "ff" + "ff", 31 * "00" + "80"])
def test_a_key_of_small_order_is_refused(opconform: Run, original: Certified, tmp_path: Path, point: str) -> None:
    """For such a key anyone can make a valid signature."""
    path = tmp_path / "weak.pub"
    path.write_bytes(public_pem(Ed25519PublicKey.from_public_bytes(bytes.fromhex(point))))
    done = opconform("certificate", "verify", original.certificate, "--key", path, code=1)

    assert done.stderr == f"error: {path} is a weak key: anyone can make a valid signature for it.\n"


def test_a_certificate_of_another_key_is_not_overwritten(opconform: Run, certified: Certified) -> None:
    """One's own is renewed."""
    before = certified.certificate.read_bytes()
    done = opconform("certificate", "sign", certified.out, "--key", certified.folder / "other.key", code=1)

    assert done.stderr.startswith(f"error: {certified.certificate} was not signed with this key")
    assert certified.certificate.read_bytes() == before
    opconform("certificate", "sign", certified.out, "--key", certified.folder / "me.key")


def test_a_run_that_is_not_whole_is_not_signed(
    opconform: Run, original: Certified, small_suite: Path, small_spec: Path, tmp_path: Path
) -> None:
    """Neither a `run`, nor a selection, nor errors, nor results that were cut short; each is refused in one sentence."""
    key = original.folder / "me.key"

    def refusal(out: Path, suite: Path = small_suite) -> str:
        done = opconform("certificate", "sign", out, "--key", key, "--suite", suite, code=1)
        assert not (out / "certificate.json").exists()
        return done.stderr.strip()

    run, part, raised = tmp_path / "run", tmp_path / "part", tmp_path / "raised"
    opconform("run", small_suite, "--backend", "numpy", "--out", run)
    opconform("run", small_suite, "--backend", "numpy", "--out", part, "--select", "lengths.remainder")
    certify = ("certify", small_spec, "--out", raised, "--sign", key, "--backend", f"{MINIATURES}:Raises")
    refused = opconform(*certify, code=1).stderr.splitlines()[-1]
    sentence = "results.jsonl is from a run that may cover a selection of cases. Only results of `certify` or `certificate judge` can be signed."

    assert refusal(run) == f"error: {run}/{sentence}"
    assert opconform("certificate", "sign", run, "--key", key, code=1).stderr == f"error: {run}/{sentence}\n"
    assert refusal(part) == f"error: {part}/{sentence}"
    assert refused == f"error: 1 case in {raised}/results.jsonl ended in a harness error: the results cannot be signed."
    held = read_written(part / "results.jsonl")
    write_results(part, replace(held.header, whole=True), held.results)
    assert "/results.jsonl has no verdict on VariadicSplit-1/" in refusal(part)
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").write_bytes(b"".join(lines[:-1]))
    assert refusal(run) == f"error: {run}/results.jsonl has no footer: the run did not end. Repeat the run."


def test_a_backend_that_supports_nothing_gets_no_certificate(
    opconform: Run, original: Certified, small_spec: Path, tmp_path: Path
) -> None:
    """A backend that supports no case breaks no requirement, and that is not worth a signature."""
    backend, key = f"{MINIATURES}:SupportsNothing", original.folder / "me.key"
    done = opconform("certify", small_spec, "--backend", backend, "--out", tmp_path, "--sign", key, code=1)

    assert done.stderr.splitlines()[-1] == (
        f"error: The verdict of {tmp_path}/results.jsonl is incomplete: no case was supported. It cannot be certified."
    )


def test_a_suite_of_selected_cases_holds_no_whole_profiles(
    opconform: Run, original: Certified, small_spec: Path, tmp_path: Path
) -> None:
    """`generate --select` is written down in the suite, and outputs for it are judged but not signed."""
    full, outputs = tmp_path / "full", tmp_path / "outputs.zip"
    opconform("generate", small_spec, "--out", full, "--select", "lengths.single-remainder")
    opconform("run", full, "--backend", "numpy", "--record", outputs)
    judging = (
        "certificate",
        "judge",
        outputs,
        "--suite",
        full,
        "--out",
        tmp_path / "out",
        "--sign",
        original.folder / "me.key",
    )
    done = opconform(*judging, code=1)

    assert json.loads((full / "suite.json").read_text())["select"] == ["lengths.single-remainder"]
    assert "CONFORMANT, 2 of 2 cases supported: 2 pass" in done.stdout
    assert "is from a run that may cover a selection of cases" in done.stderr


def test_a_pair_of_keys_is_made_for_its_owner_and_never_again(opconform: Run, tmp_path: Path) -> None:
    """Only the owner can read the private one, other software reads both, and neither is overwritten."""
    opconform("certificate", "keygen", tmp_path / "me")
    private, public = (tmp_path / "me.key"), (tmp_path / "me.pub")
    made = private.read_bytes(), public.read_bytes()
    again = opconform("certificate", "keygen", tmp_path / "me", code=2)
    key = serialization.load_pem_private_key(made[0], password=None)

    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert isinstance(key, Ed25519PrivateKey)
    assert again.stderr.strip() == f"error: {private} exists, and keys are never overwritten. Use another name."
    assert (private.read_bytes(), public.read_bytes()) == made
    private.unlink()
    assert "me.pub exists" in opconform("certificate", "keygen", tmp_path / "me", code=2).stderr
    assert not private.exists()


@pytest.mark.skipif(os.name != "posix", reason="files have no modes here")
def test_a_key_that_others_can_read_signs_nothing(opconform: Run, certified: Certified) -> None:
    """It is refused before anything is run, as is any file that is not a private key."""
    key = certified.folder / "me.key"
    key.chmod(0o644)

    def refusal(path: Path) -> str:
        done = opconform("certify", "--backend", "numpy", "--sign", path, "--out", certified.folder / "new", code=2)
        assert not (certified.folder / "new").exists()
        return done.stderr.strip()

    assert refusal(key) == f"error: Other users can read or write {key}. Run `chmod 600 {key}`."
    (certified.folder / "me.pub").chmod(0o600)
    assert "me.pub is a public key. Name the private one." in refusal(certified.folder / "me.pub")
    assert "me.key is a private key. Keep it secret" in verification(opconform, certified, key="me.key", code=1)


def test_a_new_run_removes_the_certificate_of_the_old_one(opconform: Run, certified: Certified) -> None:
    """A certificate never lies beside results that it does not speak of, and its own are replaced with --force only."""
    run = ("run", certified.out / "suite", "--backend", "numpy", "--out", certified.out)
    refused = opconform(*run, code=2).stderr
    assert refused.startswith(f"error: {certified.out} contains the results of a certification of ")
    assert certified.certificate.exists()
    opconform(*run, "--force")

    assert not certified.certificate.exists()


def test_a_missing_package_is_named_in_the_error(tmp_path: Path) -> None:
    """Nothing else of the command line needs it; a process of its own has not imported it yet."""
    program = (
        "import sys\n"
        "sys.modules['cryptography'] = None\n"
        "from click.testing import CliRunner\n"
        "from opconform_runners.cli.main import cli, main\n"
        "for words in (['certificate', 'verify', '--help'], ['certify', '--help']):\n"
        "    assert CliRunner().invoke(cli, words).exit_code == 0\n"
        "main()\n"
    )
    words = [sys.executable, "-c", program, "certificate", "keygen", "me"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stderr.strip() == (
        'error: Certificates need the package cryptography: pip install "opconform[certificates]".'
    )
    assert not list(tmp_path.iterdir())


def test_a_certificate_has_the_digest_and_the_coverage_of_claims(
    opconform: Run, certified: Certified, small_spec: Path
) -> None:
    """They follow from the results: another count is refused."""
    claims, out = certified.folder / "support.yaml", certified.folder / "claimed"
    head = "backend: numpy\nsuite: 2.0.0\nsupported:\n- VariadicSplit-1\nunsupported:\n"
    claims.write_text(f"{head}- VariadicSplit-1: data has rank 1\n")
    sign = ("--sign", certified.folder / "me.key")
    opconform("certify", small_spec, f"{MINIATURES}:Perfect", "--claims", claims, "--out", out, *sign)
    shutil.rmtree(certified.out)
    out.rename(certified.out)
    statement = certified.statement()
    said = statement["predicate"]["opconform"]["claims"]
    shown = verification(opconform, certified)
    statement["predicate"]["opconform"]["claims"] = said | {"claimed": 4}
    certified.sign(statement)
    changed = verification(opconform, certified, code=1)

    assert said == {"digest": sha256(claims.read_bytes()).hexdigest(), "claimed": 5, "valid": 5, "refused": 0}
    assert f"claims: 5 of 5 valid cases claimed, SHA-256 {said['digest']}\n" in shown
    assert "does not match" in changed
