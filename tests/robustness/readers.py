"""Files that others may have written: right documents, and the commands that read them."""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from opconform.tensors.npz import arrays_of
from opconform_runners.certificates.certificate import envelope_of, signed
from opconform_runners.certificates.keys import read_private
from opconform_runners.execution.log.outputs import read_outputs
from opconform_runners.harness.protocol import reply_of, reply_problems, said_of, said_problems
from tests.conftest import Run, killed
from tests.robustness.commands import SPEC, Commands, relinked, sealed, with_footer, write_zip
from tests.robustness.hostile_suites import reseal, reseal_header
from tests.robustness.mutation import changed_bytes, changed_json, changed_line, changed_npz

Change = Callable[[random.Random, bytes], bytes]
BYTES: tuple[Change, ...] = (changed_bytes,)
JSON: tuple[Change, ...] = (changed_bytes, changed_json)
LINES: tuple[Change, ...] = (changed_bytes, changed_line)
NPZ: tuple[Change, ...] = (changed_bytes, changed_npz)
LIMIT = 1 << 24
BASELINE = b"""\
# Failures that are expected

VariadicSplit-1/accepted/* rejected-valid  # flaky  https://example.org/1
VariadicSplit-1/accepted/* pass
VariadicSplit-1/second/0123456789 value
#- VariadicSplit-1/accepted  shape  # gone
"""
GREETING = (
    b'{"protocol":1,"implementation":{"name":"x","version":"1","device":"CPU","language":"C++"},"dialects":["openvino"],'
    b'"element_types":["f32","i64"],"operations":["Split-1"],"dynamic":true,"bindings":["constant"],"graphs":false,'
    b'"mapped":["axis.range"]}'
)
REPLIES = (
    b'{"seq":1,"status":"ok","seconds":0.5,"element_types":[["f32","f32"]]}',
    b'{"seq":2,"status":"rejected","stage":"build","message":"no","requirement":"axis.range"}',
    b'{"seq":3,"status":"unsupported","message":"no"}',
    b'{"seq":4,"status":"error","message":"no","traceback":"x","seconds":1}',
)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """What reads a document, some right documents, and the ways of changing one."""

    read: Callable[[bytes], object]
    documents: tuple[bytes, ...] = field(repr=False)
    changes: tuple[Change, ...] = JSON

    def changed(self, source: random.Random) -> bytes:
        """A document with one change or a few."""
        document = source.choice(self.documents)
        for _ in range(source.choice((1, 1, 1, 2, 4))):
            document = source.choice(self.changes)(source, document)
        return document


def _case(suite: Path, content: bytes) -> None:
    folders = [path.parent for path in sorted(suite.rglob("case.json"))]
    folder = next((path for path in folders if str(path.relative_to(suite)).encode() in content), folders[0])
    (folder / "case.json").write_bytes(content)
    reseal(suite)


def _arrays(suite: Path, content: bytes) -> None:
    paths = sorted(suite.rglob("*.npz"))
    paths[len(content) % len(paths)].write_bytes(content)
    reseal(suite)


def _header(suite: Path, content: bytes) -> None:
    (suite / "suite.json").write_bytes(content if len(content) % 4 == 0 else sealed(content))


def _kept(opconform: Commands, folder: Path) -> Callable[[bytes], int]:
    """A reader of the outputs that were kept of each case."""

    def read(content: bytes) -> int:
        with zipfile.ZipFile(folder / "failing" / "outputs.zip") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        write_zip(folder / "kept.zip", {name: content if name.endswith(".npz") else it for name, it in members.items()})
        return opconform.results("outputs.zip")((folder / "kept.zip").read_bytes())

    return read


def _greeting(line: bytes) -> None:
    said_problems(line)
    said_of(line)


def _reply(line: bytes) -> None:
    reply_problems(line)
    reply_of(line)


def _outputs(path: Path) -> Callable[[bytes], object]:
    def read(content: bytes) -> object:
        path.write_bytes(content)
        return read_outputs(path, "outputs.npz", limit=LIMIT)

    return read


def readers_of(folder: Path, opconform: Run) -> Iterator[tuple[str, Reader]]:
    """Every reader by its name."""
    run = Commands(folder, opconform)
    arrays, private = run.contents("suite", "*.npz"), read_private(folder / "me.key")
    verify = "certificate verify {} --key {} --suite suite --results judged --record record.zip"
    certificate = run.file("certificate.json", verify.format("certificate.json", "me.pub"))
    generate = "generate changed.yaml --out out-suite --jobs 1"
    with zipfile.ZipFile(folder / "record.zip") as archive:
        recorded = {name: archive.read(name) for name in archive.namelist()}
    outputs = next(name for name in recorded if name.endswith(".npz"))
    with zipfile.ZipFile(folder / "failing" / "outputs.zip") as archive:
        kept = tuple(archive.read(name) for name in archive.namelist() if name.endswith(".npz"))
    spec = json.dumps(yaml.safe_load(SPEC)).encode()

    def reader(read: Callable[[bytes], object], *documents: bytes, changes: tuple[Change, ...] = JSON) -> Reader:
        return Reader(read=read, documents=documents, changes=changes)

    yield "spec", reader(run.file("changed.yaml", generate), spec)
    yield "spec, as text", reader(run.file("changed.yaml", generate), SPEC.encode(), changes=BYTES)
    yield "npz", reader(lambda it: arrays_of(it, "x.npz", limit=LIMIT), *arrays, changes=NPZ)
    yield "case.json", reader(run.suite(_case), *run.contents("suite", "case.json"))
    yield "arrays of a case", reader(run.suite(_arrays), *arrays, changes=NPZ)
    yield "suite.json", reader(run.suite(_header), run.content("suite/suite.json"))
    yield "manifest", reader(run.suite(reseal_header), run.content("suite/manifest.jsonl"), changes=LINES)
    zipped = run.file("changed.zip", "verify changed.zip", "run changed.zip --backend numpy --out zip-out --force")
    yield "suite, as a zip file", reader(zipped, run.content("suite.zip"), changes=BYTES)
    results = run.content("failing/results.jsonl")
    yield "results", reader(run.results("results.jsonl"), results, changes=LINES)
    yield "results, sealed", reader(run.results("results.jsonl", with_footer), results, changes=LINES)
    log = killed(folder / "failing", cases=4)
    yield "log of a killed run", reader(run.results("outcomes.jsonl"), log, changes=LINES)
    yield "log of a killed run, linked", reader(run.results("outcomes.jsonl", relinked), log, changes=LINES)
    yield "report.json", reader(run.results("report.json"), run.content("failing/report.json"))
    yield "outputs.zip", reader(_kept(run, folder), *kept, changes=NPZ)
    actual = run.content("failing/outputs.zip")
    yield "outputs.zip, as a zip file", reader(run.results("outputs.zip"), actual, changes=BYTES)
    yield "recorded log", reader(run.recorded("outcomes.jsonl"), recorded["outcomes.jsonl"], changes=LINES)
    yield "recorded arrays", reader(run.recorded(outputs), recorded[outputs], changes=NPZ)
    judge = run.file("changed.zip", "certificate judge changed.zip --suite suite --out judged-out --force")
    yield "recorded outputs, as a zip file", reader(judge, run.content("record.zip"), changes=BYTES)
    yield "certificate", reader(certificate, run.content("judged/certificate.json"))
    payload = envelope_of(folder / "judged" / "certificate.json").payload
    yield "statement", reader(lambda it: certificate(signed(it, private)), payload)
    sign = run.file("changed.key", "certificate sign judged --key changed.key --suite suite")
    yield "private key", reader(sign, run.content("me.key"), changes=BYTES)
    verified = run.file("changed.pub", verify.format("judged/certificate.json", "changed.pub"))
    yield "public key", reader(verified, run.content("me.pub"), changes=BYTES)
    baseline = run.file("baseline.txt", "run suite --backend numpy --out out --force --baseline baseline.txt")
    yield "baseline", reader(baseline, BASELINE, changes=BYTES)
    yield "reply to start", reader(_greeting, GREETING)
    yield "reply to run", reader(_reply, *REPLIES)
    expected = run.contents("suite", "expected*.npz")
    yield "harness outputs", reader(_outputs(folder / "outputs.npz"), *expected, changes=NPZ)
