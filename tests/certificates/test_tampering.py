"""Every change to a certificate, or to what it is about, is found."""

import base64
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope as ForeignEnvelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from opconform import __version__
from opconform.errors import CertificateError, SuiteError
from opconform.suite.case import canonical_json
from opconform_runners.certificates.certificate import PAYLOAD_TYPE, read_certificate
from opconform_runners.certificates.keys import read_public
from opconform_runners.certificates.verification import check_results, intact_suite
from tests.certificates.conftest import Certified, verification
from tests.conftest import Run
from tests.forgery import seal


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
    seal(suite, b"".join(lines[1:]))


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
