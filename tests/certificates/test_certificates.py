"""Certificates: what can be signed, what a certificate says, and that every change to it is found."""

import base64
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope as ForeignEnvelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from opconform import __version__
from opconform.errors import CertificateError, SuiteError
from opconform.suite.case import canonical_json
from opconform_runners.certificates.certificate import PAYLOAD_TYPE, read_certificate, signed
from opconform_runners.certificates.keys import public_pem, read_private, read_public
from opconform_runners.certificates.verification import check_results, intact_suite
from opconform_runners.verdicts.results import read_written, write_results
from tests.conftest import MINIATURES, ROOT, Run, killed


@dataclass(frozen=True, slots=True)
class Certified:
    """A folder with a pair of keys, another pair, a suite, results and a certificate."""

    folder: Path

    @property
    def out(self) -> Path:
        """The results."""
        return self.folder / "out"

    @property
    def certificate(self) -> Path:
        """The certificate."""
        return self.out / "certificate.json"

    def statement(self) -> Any:
        """What the certificate says."""
        return json.loads(base64.b64decode(json.loads(self.certificate.read_text())["payload"]))

    def sign(self, statement: Any, key: str = "me.key") -> None:
        """Write a certificate that says something else, signed."""
        payload = statement if isinstance(statement, bytes) else canonical_json(statement).encode()
        self.certificate.write_bytes(signed(payload, read_private(self.folder / key)))


@pytest.fixture(scope="module")
def original(opconform: Run, small_spec: Path, tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A certificate of a backend that maps a requirement, as `certify --sign` writes it."""
    folder = tmp_path_factory.mktemp("certified")
    for name in ("me", "other"):
        opconform("certificate", "keygen", folder / name)
    backend = f"{MINIATURES}:MapsTheRemainder"
    opconform("certify", small_spec, "--backend", backend, "--out", folder / "out", "--sign", folder / "me.key")
    return Certified(folder)


@pytest.fixture
def certified(original: Certified, tmp_path: Path) -> Certified:
    """A copy of it to tamper with."""
    shutil.copytree(original.folder, tmp_path / "copy")
    return Certified(tmp_path / "copy")


def verification(opconform: Run, found: Certified, *, key: str = "me.pub", code: int = 0) -> str:
    """What is said of a certificate that is shown with its results and its suite."""
    out = found.out
    shown = ("--key", found.folder / key, "--results", out, "--suite", out / "suite")
    done = opconform("certificate", "verify", found.certificate, *shown, code=code)
    return done.stderr if code else done.stdout


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
    assert ", the shipped specs of 1 of 13 operations: Split-1\n" in shipped
    assert lacking == "error: The certificate covers core, but not types.\n"


def test_requirements_that_were_changed_in_a_suite_are_found(opconform: Run, certified: Certified) -> None:
    """The suite digest is that of the manifest, which names requirements and does not hold them."""
    path = certified.out / "suite" / "suite.json"
    genuine = json.loads(path.read_text())
    sentences = []
    for notes in (
        {},
        {
            "VariadicSplit-1": {
                name: x | {"level": "interpretation"} for name, x in genuine["requirements"]["VariadicSplit-1"].items()
            }
        },
    ):
        header = genuine | {"requirements": notes}
        del header["checksum"]
        checksum = hashlib.sha256(canonical_json(header).encode()).hexdigest()
        path.write_text(json.dumps(header | {"checksum": checksum}, indent=1) + "\n")
        (certified.out / "certificate.json").unlink(missing_ok=True)
        sentences.append(
            opconform("certificate", "sign", certified.out, "--key", certified.folder / "me.key", code=1).stderr
        )

    assert (
        "VariadicSplit-1/accepted/055b3aac7f tests lengths.remainder, which suite.json does not list." in sentences[0]
    )
    assert (
        sentences[1]
        == f"error: The requirements of VariadicSplit-1 in {path.parent} are not those of opconform {__version__}. Generate the suite again.\n"
    )


def test_an_unsupported_declared_feature_gives_a_warning(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """A requirement that is silently left out is not a passed test."""
    opconform("certificate", "keygen", tmp_path / "me")
    backend = ("--backend", f"{MINIATURES}:SupportsSome")
    opconform("certify", small_spec, *backend, "--out", tmp_path / "out", "--sign", tmp_path / "me.key")
    checking = ("certificate", "verify", tmp_path / "out" / "certificate.json", "--key", tmp_path / "me.pub")
    shown = opconform(*checking).stdout

    assert shown.startswith("CONFORMANT (WARNED), ")
    assert "\nwarned: VariadicSplit-1/lengths.remainder\n" in shown


@pytest.mark.parametrize("point", ["01" + 31 * "00", "ec" + 30 * "ff" + "ff", 31 * "00" + "80"])
def test_a_key_of_small_order_is_refused(opconform: Run, original: Certified, tmp_path: Path, point: str) -> None:
    """For such a key anyone can make a valid signature."""
    path = tmp_path / "weak.pub"
    path.write_bytes(public_pem(Ed25519PublicKey.from_public_bytes(bytes.fromhex(point))))
    done = opconform("certificate", "verify", original.certificate, "--key", path, code=1)

    assert done.stderr == f"error: {path} is a weak key: anyone can make a valid signature for it.\n"


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


def test_a_certificate_of_another_key_is_not_overwritten(opconform: Run, certified: Certified) -> None:
    """One's own is renewed."""
    before = certified.certificate.read_bytes()
    done = opconform("certificate", "sign", certified.out, "--key", certified.folder / "other.key", code=1)

    assert done.stderr.startswith(f"error: {certified.certificate} was not signed with this key")
    assert certified.certificate.read_bytes() == before
    opconform("certificate", "sign", certified.out, "--key", certified.folder / "me.key")


def test_results_do_not_go_into_a_suite(opconform: Run, small_suite: Path) -> None:
    """They would be unexpected files there, and the suite would not verify any more."""
    for out in (small_suite, small_suite / "out"):
        done = opconform("run", small_suite, "--backend", "numpy", "--out", out, code=2)
        assert (
            done.stderr
            == f"error: Results cannot be written to {out}: it is part of the suite {small_suite}. Use another --out.\n"
        )
    opconform("verify", small_suite)


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


def _edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_text() != text


def _envelope(found: Certified, change: Callable[[Any], Any]) -> None:
    document = json.loads(found.certificate.read_text())
    change(document)
    found.certificate.write_text(json.dumps(document, indent=1) + "\n")


def _claim(found: Certified) -> None:
    statement = found.statement()
    statement["predicate"]["result"] = "FAILED"
    payload = base64.b64encode(canonical_json(statement).encode()).decode()
    _envelope(found, lambda x: x.update(payload=payload))


def _false_claim(found: Certified) -> None:
    statement = found.statement()
    statement["predicate"]["passedTests"].append("VariadicSplit-1/lengths.remainder")
    found.sign(statement)


def _other_kind(found: Certified) -> None:
    found.sign(found.statement() | {"predicateType": "https://slsa.dev/provenance/v1"})


def _results(found: Certified) -> None:
    """Another message, and a footer that goes with it."""
    path = found.out / "results.jsonl"
    *lines, footer = path.read_bytes().replace(b'"seconds":', b'"seconds":1').splitlines(keepends=True)
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    path.write_bytes(b"".join(lines) + canonical_json(json.loads(footer) | {"digest": digest}).encode() + b"\n")


def _header(found: Certified) -> None:
    """A requirement that counts no longer, and a checksum that goes with it."""
    path = found.out / "suite" / "suite.json"
    document = json.loads(path.read_text())
    document["requirements"]["VariadicSplit-1"]["lengths.remainder"]["level"] = "interpretation"
    del document["checksum"]
    checksum = hashlib.sha256(canonical_json(document).encode()).hexdigest()
    path.write_text(json.dumps(document | {"checksum": checksum}, indent=1, ensure_ascii=False) + "\n")


def _golden(found: Certified) -> None:
    path = next((found.out / "suite").rglob("expected.npz"))
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def _no_case(found: Certified) -> None:
    """A manifest of one case less, with a header that goes with it."""
    suite = found.out / "suite"
    lines = (suite / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    shutil.rmtree(suite / json.loads(lines[0])["id"])
    (suite / "manifest.jsonl").write_bytes(b"".join(lines[1:]))
    document = json.loads((suite / "suite.json").read_text())
    document["digest"] = hashlib.sha256(b"".join(lines[1:])).hexdigest()
    document["counts"]["accept"] -= 1
    del document["checksum"]
    checksum = hashlib.sha256(canonical_json(document).encode()).hexdigest()
    (suite / "suite.json").write_text(
        json.dumps(document | {"checksum": checksum}, indent=1, ensure_ascii=False) + "\n"
    )


def _spaces(found: Certified) -> None:
    _edit(found.certificate, lambda text: text.replace('"payload": ', '"payload":  '))


def _other_key(found: Certified) -> None:
    shutil.copy(found.folder / "other.pub", found.folder / "me.pub")


TAMPERINGS: dict[str, tuple[Callable[[Certified], None], str]] = {
    "another result": (_claim, "was changed after it was signed: its signature is not valid."),
    "another type of payload": (
        lambda found: _envelope(found, lambda x: x.update(payloadType="application/json")),
        "has a payload of type 'application/json', not application/vnd.in-toto+json.",
    ),
    "a second signature": (
        lambda found: _envelope(found, lambda x: x["signatures"].append(x["signatures"][0])),
        "is not a certificate: it is not a DSSE envelope.",
    ),
    "a short signature": (
        lambda found: _envelope(found, lambda x: x["signatures"][0].update(sig="AAAA")),
        "was changed after it was signed: its signature is not valid.",
    ),
    "a key twice": (
        lambda found: _edit(found.certificate, lambda text: text.replace("{", '{"payload": "",', 1)),
        "was changed outside the signed payload: it is not in the form that opconform writes.",
    ),
    "an unknown key": (
        lambda found: _envelope(found, lambda x: x.update(note="trust me")),
        "was changed outside the signed payload: it is not in the form that opconform writes.",
    ),
    "loose base64": (
        lambda found: _edit(found.certificate, lambda text: text.replace('"payload": "', '"payload": " ')),
        "is not a certificate: it is not a DSSE envelope.",
    ),
    "white space": (_spaces, "was changed outside the signed payload: it is not in the form that opconform writes."),
    "another statement": (
        _other_kind,
        "did not write: predicateType: Input should be 'https://in-toto.io/attestation/test-result/v0.1'.",
    ),
    "a claim that is not true": (_false_claim, "and the suite: passed."),
    "other results": (_results, "results.jsonl is not the file that was certified: its digest differs."),
    "another log": (
        lambda found: _edit(found.out / "outcomes.jsonl", lambda text: text.replace('"strict":false', '"strict":true')),
        "outcomes.jsonl is not the file that was certified: its digest differs.",
    ),
    "another golden": (_golden, "expected.npz was changed after the suite was generated."),
    "a foreign file": (lambda found: (found.out / "suite" / "x").touch(), "x does not belong to the suite."),
    "another level": (_header, "suite.json is not that of the suite that was certified."),
    "a case less": (_no_case, "is not the suite that was certified: its digest is "),
    "another key": (
        _other_key,
        "was signed with the key ",
    ),
    "the key with a remark": (
        lambda found: _edit(found.folder / "me.pub", lambda text: f"# mine\n{text}"),
        "me.pub is not in the form that `opconform certificate keygen` and `openssl pkey -pubout` write.",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_certificate_that_is_tampered_with_is_refused(opconform: Run, certified: Certified, name: str) -> None:
    """With the sentence for that way to tamper, and no other."""
    tamper, sentence = TAMPERINGS[name]
    tamper(certified)
    said = verification(opconform, certified, code=1)

    assert said.startswith("error: ")
    assert sentence in said
    assert {other for _, other in TAMPERINGS.values() if other in said} == {sentence}


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_byte_that_is_changed_is_found(original: Certified, tmp_path: Path, data: st.DataObject) -> None:
    """In the certificate, the results, the log, the suite and the key: flipped, taken out or put in."""
    suite = original.out / "suite"
    held = sorted(path for path in suite.rglob("*") if path.is_file())
    files = [
        original.certificate,
        original.folder / "me.pub",
        original.out / "results.jsonl",
        original.out / "outcomes.jsonl",
    ]
    chosen = data.draw(st.one_of(*(st.just(file) for file in files), st.sampled_from(held)))
    content = chosen.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    change = data.draw(st.sampled_from(["flip", "delete", "insert", "cut"]))
    put = {"flip": bytes([content[at] ^ data.draw(st.integers(1, 255))]), "insert": bytes([content[at]]) * 2}.get(
        change
    )
    changed = content[:at] if change == "cut" else content[:at] + (put or b"") + content[at + 1 :]
    if tmp_path.joinpath("copy").exists():
        shutil.rmtree(tmp_path / "copy")
    shutil.copytree(original.folder, tmp_path / "copy")
    copy = Certified(tmp_path / "copy")
    (copy.folder / chosen.relative_to(original.folder)).write_bytes(changed)

    with pytest.raises((CertificateError, SuiteError)):
        _checked(copy)


def _checked(found: Certified) -> None:
    statement = read_certificate(found.certificate, read_public(found.folder / "me.pub"))
    check_results(statement, found.out)
    intact_suite(found.out / "suite")


def test_the_checks_that_find_every_byte_accept_the_original(original: Certified) -> None:
    """So that what they refuse is the change."""
    _checked(original)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b'{"payload": "", "payloadType": 1, "signatures": [1]}',
        b"\xff",
        b"{}",
        b'{"payload": NaN}',
        b"[" * 100_000,
        b'"' + b"x" * 99,
    ],
)
def test_a_file_that_is_not_a_certificate_is_refused(original: Certified, tmp_path: Path, content: bytes) -> None:
    """Empty, not JSON, not an object, or too deep."""
    path = tmp_path / "certificate.json"
    path.write_bytes(content)

    with pytest.raises(CertificateError):
        read_certificate(path, read_public(original.folder / "me.pub"))


def test_a_statement_of_another_tool_is_refused_though_it_is_signed(original: Certified, tmp_path: Path) -> None:
    """Also where other software made and signed it."""
    key = serialization.load_pem_private_key((original.folder / "me.key").read_bytes(), password=None)
    assert isinstance(key, Ed25519PrivateKey)
    public = read_public(original.folder / "me.pub")
    signer = CryptoSigner(key, SSlibKey.from_crypto(key.public_key(), keyid=public.keyid))
    foreign = ForeignEnvelope(b'{"_type": "x"}', PAYLOAD_TYPE, {})
    foreign.sign(signer)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(foreign.to_dict(), indent=1) + "\n")

    with pytest.raises(CertificateError, match=r"(was changed outside the signed payload|_type: Input should be )"):
        read_certificate(path, public)


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
    """Nothing else of the command line needs it."""
    call = "import sys; sys.modules['cryptography'] = None; from opconform_runners.cli.main import main; main()"

    def said(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", call, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert said("certificate", "keygen", "me").stderr.strip() == (
        'error: Certificates need the package cryptography: pip install "opconform[certificates]".'
    )
    assert said("certificate", "verify", "--help").returncode == said("certify", "--help").returncode == 0
    assert not list(tmp_path.iterdir())
