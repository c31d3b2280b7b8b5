"""Certificates: what can be signed, and what a certificate says."""

import base64
import hashlib
import json
import re
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from opconform.specs.loader import shipped_operations
from tests.certificates.conftest import Certified, verification
from tests.conftest import MINIATURES, ROOT, Run, killed


def test_a_certificate_names_backend_suite_and_results(original: Certified, small_suite: Path) -> None:
    """It is an in-toto statement with the predicate of a test result, in which a requirement is a test."""
    said = original.statement()
    predicate, conclusion = said["predicate"], said["predicate"]["opconform"]
    header = json.loads((small_suite / "suite.json").read_text())
    subject = {x["name"]: x["digest"]["sha256"] for x in said["subject"]}

    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert predicate["result"] == "PASSED"
    assert predicate["passedTests"] == ["VariadicSplit-1/lengths.single-remainder"]
    assert predicate["warnedTests"] == predicate["failedTests"] == []
    assert subject == {
        name: hashlib.sha256((original.out / name).read_bytes()).hexdigest()
        for name in ("results.jsonl", "outcomes.jsonl")
    }
    assert predicate["configuration"][0] == {"name": "manifest.jsonl", "digest": {"sha256": header["digest"]}}
    assert predicate["configuration"][2]["name"] == "VariadicSplit-1/small.yaml"
    assert conclusion["suite"]["digest"] == header["digest"]
    assert conclusion["suite"]["specification"] == header["specification"]
    assert conclusion["backend"]["name"] == "numpy"
    assert conclusion["environment"]["packages"].keys() == {"ml_dtypes", "numpy"}
    assert conclusion["environment"]["python"].startswith("CPython 3.")
    assert (conclusion["profiles"], conclusion["cases"], conclusion["supported"]) == (["core"], 6, 6)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", conclusion["timestamp"])


def test_a_right_certificate_is_verified(opconform: Run, original: Certified) -> None:
    """What was checked is said, and what was not."""
    shown = verification(opconform, original)
    alone = opconform("certificate", "verify", original.certificate, "--key", original.folder / "me.pub").stdout

    assert shown.startswith("CONFORMANT (PASSED), 6 of 6 cases supported: numpy ")
    assert "\nrequirements: 1 passed, 0 warned, 0 failed\n" in shown
    assert "; every verdict and conclusion, derived again from the log.\n" in shown
    assert shown.endswith(
        "Not checked: the verdicts, which need another run of the backend; "
        "the suite's specs and IR, since opconform does not ship its specs.\n"
    )
    assert "Not checked: the results, which need --results; the suite, which needs --suite; the conclusions" in alone


def test_a_certificate_says_whether_the_specs_are_the_shipped_ones(
    opconform: Run, original: Certified, tmp_path: Path
) -> None:
    """The profile's name alone says little; and a reader can demand profiles."""
    signed = ("certify", ROOT / "cases" / "Split-1", "--backend", "numpy", "--profile", "types", "--out", tmp_path)
    opconform(*signed, "--sign", original.folder / "me.key")
    checking = ("--key", original.folder / "me.pub")
    shipped = opconform("certificate", "verify", tmp_path / "certificate.json", *checking).stdout
    own = opconform("certificate", "verify", original.certificate, *checking).stdout
    lacking = opconform("certificate", "verify", original.certificate, *checking, "--profile", "types", code=1).stderr

    assert "NOT THE SHIPPED SPECS: VariadicSplit-1/small.yaml (custom, or of another version" in own
    assert f", the shipped specs of 1 of {len(shipped_operations())} operations: Split-1\n" in shipped
    assert lacking == "error: The certificate covers core, but not types.\n"


def test_an_unsupported_declared_feature_gives_a_warning(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """A requirement that is silently left out is not a passed test."""
    opconform("certificate", "keygen", tmp_path / "me")
    backend = ("--backend", f"{MINIATURES}:SupportsSome")
    opconform("certify", small_spec, *backend, "--out", tmp_path / "out", "--sign", tmp_path / "me.key")
    checking = ("certificate", "verify", tmp_path / "out" / "certificate.json", "--key", tmp_path / "me.pub")
    shown = opconform(*checking).stdout

    assert shown.startswith("CONFORMANT (WARNED), ")
    assert "\nwarned: VariadicSplit-1/lengths.remainder\n" in shown


def test_what_a_backend_is_called_steers_no_terminal(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """The maker of a backend chooses its name."""
    opconform("certificate", "keygen", tmp_path / "me")
    backend = ("--backend", f"{MINIATURES}:IsHostile")
    opconform("certify", small_spec, *backend, "--out", tmp_path / "out", "--sign", tmp_path / "me.key", code=1)
    checking = ("certificate", "verify", tmp_path / "out" / "certificate.json", "--key", tmp_path / "me.pub")
    first, *_ = opconform(*checking).stdout.splitlines()

    assert first.startswith("NOT CONFORMANT (FAILED), 6 of 6 cases supported: =1+1 \\x00\\x1b[31m")


def test_a_certificate_says_whether_its_signer_observed_the_run(
    opconform: Run, small_spec: Path, tmp_path: Path
) -> None:
    """`certify --sign` executes every case itself; what is signed later may have been written by anyone."""
    opconform("certificate", "keygen", tmp_path / "me")
    certify = ("certify", small_spec, "numpy", "--out")
    opconform(*certify, tmp_path / "now", "--sign", tmp_path / "me.key")
    opconform(*certify, tmp_path / "later")
    (tmp_path / "later" / "outcomes.jsonl").write_bytes(killed(tmp_path / "later"))
    (tmp_path / "later" / "results.jsonl").unlink()
    assert "was continued; 2 of 6 cases" in opconform(*certify, tmp_path / "later").stderr
    opconform("certificate", "sign", tmp_path / "later", "--key", tmp_path / "me.key")
    now, later = (
        opconform(
            "certificate",
            "verify",
            tmp_path / name,
            "--key",
            tmp_path / "me.pub",
            "--results",
            tmp_path / name,
            "--suite",
            tmp_path / name / "suite",
        ).stdout
        for name in ("now", "later")
    )

    assert "\nsigned at 20" in now
    assert ", from result files: the signer did not observe the run\n" not in now
    assert ", from result files: the signer did not observe the run\n" in later


def test_a_certificate_is_found_in_its_folder(opconform: Run, original: Certified, tmp_path: Path) -> None:
    """A folder without one is an error that says how to write it."""
    key = ("--key", original.folder / "me.pub")
    shown = opconform("certificate", "verify", original.out, *key).stdout
    absent = opconform("certificate", "verify", tmp_path, *key, code=2).stderr

    assert shown.startswith("CONFORMANT (PASSED), 6 of 6 cases supported: numpy ")
    assert absent == (
        f"error: Certificate not found: {tmp_path}/certificate.json. `opconform certificate sign` writes one.\n"
    )


def test_other_software_verifies_the_signature(original: Certified) -> None:
    """The signature is over the encoding of DSSE's specification, made with the key in the PEM file."""
    key = serialization.load_pem_public_key((original.folder / "me.pub").read_bytes())
    assert isinstance(key, Ed25519PublicKey)
    document = json.loads(original.certificate.read_text())
    payload, kind = base64.b64decode(document["payload"]), document["payloadType"].encode()
    [signature] = document["signatures"]
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)

    key.verify(base64.b64decode(signature["sig"]), b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload))
    assert signature["keyid"] == hashlib.sha256(der).hexdigest()


def test_a_backend_that_is_not_conformant_is_certified_as_that(
    opconform: Run, original: Certified, small_spec: Path, tmp_path: Path
) -> None:
    """The certificate says FAILED and what is broken; it is genuine, and verification ends with 1 only with --require-conformant."""
    backend, key = f"{MINIATURES}:LosesNegativeZero", original.folder / "me.key"
    opconform("certify", small_spec, "--backend", backend, "--out", tmp_path / "out", "--sign", key, code=1)
    said = Certified(tmp_path).statement()["predicate"]
    checking = ("certificate", "verify", tmp_path / "out" / "certificate.json", "--key", original.folder / "me.pub")
    done = opconform(*checking)
    opconform(*checking, "--require-conformant", code=1)
    opconform("certificate", "verify", original.certificate, *checking[3:], "--require-conformant")

    assert (said["result"], said["failedTests"]) == ("FAILED", ["VariadicSplit-1/data.bits"])
    assert done.stdout.startswith("NOT CONFORMANT (FAILED), ")
    assert "\nbroken: VariadicSplit-1/data.bits\n" in done.stdout
