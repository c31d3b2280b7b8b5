"""Fuzzed files and replies: every reader is given seeded changes of right documents, by structure and by bytes.

A reader may refuse what it is given with its documented error. Anything else that it raises is counted as `traceback`,
and more than five seconds of processor time as `hang`. What is sealed by digests is sealed again after a change, as a
stranger would do it.
"""

import random
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType

from tests.conftest import whole

from opconform.errors import OpconformError
from opconform_runners.harness.protocol import ProtocolError

from . import readers
from .attempt import Attempt
from .mutation import changed_bytes, changed_json, changed_npz

#: The inputs that each reader is given, and the seconds of processor time that it may take for one.
COUNT = 10_000
_SECONDS = 5
_MINIATURES = Path(__file__).resolve().parents[2] / "tests" / "miniatures.py"
#: What readers raise for what they refuse.
DOCUMENTED = (OpconformError, ProtocolError)

_SPEC = """\
op: VariadicSplit-1
groups:
  - id: accepted
    title: accepted cases
    requirements: [lengths.remainder, axis.range]
    seen: [apache/tvm#1595]
    matrix: {lengths: [[-1, 1, 2], [1, 2, -1]]}
    where: len(lengths) == 3
    data: {shape: [6, 2], fill: special}
    axis: 0
    split_lengths: ${{ lengths }}
  - id: rejected
    title: at most one -1
    data: {shape: [6, 4]}
    axis: {element_type: i32, values: 0}
    split_lengths: [-1, -1, 2]
    expect: {reject: lengths.single-remainder}
    twin: {split_lengths: [-1, 2, 2]}
  - id: second
    title: a second inference
    data: {shape: [4], element_type: string, values: [a, b, c, d]}
    dynamic: ["1..9"]
    binding: parameter
    axis: 0
    split_lengths: [1, -1]
    feed: {data: {shape: [3], values: [e, f, g]}}
  - id: drawn
    title: random cases
    random: {count: 2, draw: {shape: "${{ random_shape(1, 2, 0, 4) }}"}}
    data: {shape: "${{ shape }}", element_type: bf16}
    axis: -1
    split_lengths: ["${{ shape[-1] }}", 0]
"""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader and the right documents that it is given changes of.

    Attributes:
        read: Reads a document, and uses all of it.
        documents: Right documents.
        changes: The ways of changing one.
    """

    read: Callable[[bytes], object]
    documents: tuple[bytes, ...] = field(repr=False)
    changes: tuple[Callable[[random.Random, bytes], bytes], ...] = (changed_bytes, changed_json)


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """Changes for each reader: `count` of them, or as many as `COUNT`."""
    for name, reader in readers_of(scratch).items():
        for each in reader.documents:
            reader.read(each)  # a right document is read without an error, or the part tests nothing
        for number in range(COUNT if count is None else count):
            source = random.Random(f"{name} {number}")  # noqa: S311 - seeded on purpose
            yield _attempt(f"{name} {number}", reader, changed(source, reader))


def changed(source: random.Random, reader: Reader) -> bytes:
    """A document of a reader's with one change or a few."""
    document = source.choice(reader.documents)
    for _ in range(source.choice((1, 1, 1, 2, 4))):
        document = source.choice(reader.changes)(source, document)
    return document


class _TooLongError(BaseException):
    """A reader that takes more time than it may; no reader can take it for an error of its own."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TooLongError


def _attempt(what: str, reader: Reader, document: bytes) -> Attempt:
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    started = time.process_time()
    try:
        reader.read(document)
    except DOCUMENTED:
        pass
    except _TooLongError:
        return Attempt(what=what, outcome="hang", detail=repr(document[:300]))
    except Exception as fault:  # noqa: BLE001 - this is what is looked for
        return Attempt(what=what, outcome="traceback", detail=_where(fault))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if time.process_time() - started > _SECONDS:
        return Attempt(what=what, outcome="hang", detail=repr(document[:300]))
    return Attempt(what=what, outcome="held")


def _where(fault: BaseException) -> str:
    """An error with the last line of opconform's own code that it came through."""
    place, step = "", fault.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if "/opconform" in name and "/benchmarks/" not in name:
            place = f"{Path(name).name}:{step.tb_lineno}"
        step = step.tb_next
    return f"{place}: {type(fault).__name__}: {str(fault)[:200]}"


@dataclass(frozen=True, kw_only=True)
class _Material:
    """What was written by right commands: the folder of each, and a pair of keys."""

    suite: Path
    failing: Path
    judged: Path
    outputs: Path
    key: Path


def _in_a_process(*words: str | Path, cwd: Path) -> None:
    program = [sys.executable, "-c", "from opconform_runners.cli.main import main; main()"]
    done = subprocess.run([*program, *words], cwd=cwd, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"opconform {' '.join(map(str, words))}: {done.stderr.decode()}")


def _material(scratch: Path, run: Callable[..., object]) -> _Material:
    opconform = partial(run, cwd=scratch)
    (scratch / "spec.yaml").write_text(whole(_SPEC))
    opconform("generate", "spec.yaml", "--out", "suite.zip", "--jobs", "1")
    opconform("run", "suite.zip", "--backend", f"{_MINIATURES}:LosesNegativeZero", "--out", "failing")
    opconform("run", "suite.zip", "--backend", "numpy", "--record", "record.zip")
    opconform("certificate", "keygen", "me")
    opconform("certificate", "judge", "record.zip", "--suite", "suite.zip", "--out", "judged", "--sign", "me.key")
    return _Material(
        suite=scratch / "suite.zip",
        failing=scratch / "failing",
        judged=scratch / "judged",
        outputs=scratch / "record.zip",
        key=scratch / "me",
    )


def readers_of(scratch: Path, run: Callable[..., object] = _in_a_process) -> Mapping[str, Reader]:
    """Every reader by its name, with the documents that a few commands have written into a folder.

    `run` runs opconform with words in the folder `cwd`; it raises an error if opconform fails.
    """
    material = _material(scratch, run)
    suite = _members(material.suite)
    recorded = _members(material.outputs)
    header, *lines = recorded["outcomes.jsonl"].splitlines(keepends=True)
    log = header + b"".join(readers.unlinked(line) for line in lines)
    cases = tuple(content for name, content in suite.items() if name.endswith("/case.json"))
    arrays = tuple(content for name, content in suite.items() if name.endswith(".npz"))
    in_suite = readers.SuiteReader(suite, scratch / "fuzzed.zip")
    in_run = readers.RunReader(material.failing, material.suite, scratch / "run")
    in_outputs = readers.OutputsReader(recorded, material.suite, scratch / "changed.zip", scratch / "again")
    certificate = readers.CertificateReader(material.judged, material.suite, material.key, scratch / "certificate.json")
    kept = tuple(
        content for name, content in _members(material.failing / "outputs.zip").items() if name.endswith(".npz")
    )
    npz = (changed_bytes, changed_npz)
    return {
        "spec": Reader(read=readers.SpecReader(scratch / "fuzzed.yaml").read, documents=(readers.as_json(_SPEC),)),
        "spec, as text": Reader(
            read=readers.SpecReader(scratch / "fuzzed.yaml").read,
            documents=(_SPEC.encode(),),
            changes=(changed_bytes,),
        ),
        "npz": Reader(read=readers.read_npz, documents=arrays, changes=npz),
        "case.json": Reader(read=in_suite.read_case, documents=cases),
        "arrays of a case": Reader(read=in_suite.read_arrays, documents=arrays, changes=npz),
        "suite.json": Reader(read=in_suite.read_header, documents=(suite["suite.json"],)),
        "manifest": Reader(
            read=in_suite.read_manifest, documents=(suite["manifest.jsonl"],), changes=(changed_bytes, _changed_line)
        ),
        "suite, as a zip file": Reader(
            read=in_suite.read_zip, documents=(material.suite.read_bytes(),), changes=(changed_bytes,)
        ),
        "results": Reader(
            read=in_run.read_results,
            documents=((material.failing / "results.jsonl").read_bytes(),),
            changes=(changed_bytes, _changed_line),
        ),
        "outcomes.jsonl": Reader(read=in_run.read_log, documents=(in_run.log,), changes=(changed_bytes, _changed_line)),
        "report.json": Reader(read=in_run.read_report, documents=((material.failing / "report.json").read_bytes(),)),
        "outputs.zip": Reader(read=in_run.read_kept, documents=kept, changes=npz),
        "outputs.zip, as a zip file": Reader(
            read=in_run.read_kept_zip,
            documents=((material.failing / "outputs.zip").read_bytes(),),
            changes=(changed_bytes,),
        ),
        "recorded outcomes.jsonl": Reader(
            read=in_outputs.read_log, documents=(log,), changes=(changed_bytes, _changed_line)
        ),
        "recorded arrays": Reader(
            read=in_outputs.read_arrays,
            documents=tuple(content for name, content in recorded.items() if name.endswith(".npz")),
            changes=npz,
        ),
        "recorded outputs, as a zip file": Reader(
            read=in_outputs.read_zip, documents=(material.outputs.read_bytes(),), changes=(changed_bytes,)
        ),
        "certificate": Reader(read=certificate.read, documents=((material.judged / "certificate.json").read_bytes(),)),
        "statement": Reader(read=certificate.read_statement, documents=(certificate.payload,)),
        "private key": Reader(
            read=readers.KeyReader(scratch / "fuzzed.key").read_private,
            documents=(material.key.with_suffix(".key").read_bytes(),),
            changes=(changed_bytes,),
        ),
        "public key": Reader(
            read=readers.KeyReader(scratch / "fuzzed.pub").read_public,
            documents=(material.key.with_suffix(".pub").read_bytes(),),
            changes=(changed_bytes,),
        ),
        "baseline": Reader(
            read=readers.BaselineReader(scratch / "baseline.txt").read,
            documents=(readers.BASELINE,),
            changes=(changed_bytes,),
        ),
        "reply to start": Reader(read=readers.read_greeting, documents=(readers.GREETING,)),
        "reply to run": Reader(read=readers.read_reply, documents=readers.REPLIES),
        "harness outputs": Reader(
            read=readers.OutputFileReader(scratch / "outputs.npz").read,
            documents=tuple(content for name, content in suite.items() if "expected" in name),
            changes=npz,
        ),
    }


def _changed_line(source: random.Random, content: bytes) -> bytes:
    """A file of JSON lines with one of them changed."""
    lines = content.splitlines()
    if not lines:
        return changed_bytes(source, content)
    number = source.randrange(len(lines))
    lines[number] = changed_json(source, lines[number])
    return b"".join(line + b"\n" for line in lines)


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist()}
