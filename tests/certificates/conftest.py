"""A certificate with all that belongs to it, and a copy to tamper with."""

import base64
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.case import canonical_json
from opconform_runners.certificates.certificate import signed
from opconform_runners.certificates.keys import read_private
from tests.conftest import MINIATURES, Run


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


@pytest.fixture(scope="session")
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
