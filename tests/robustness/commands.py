"""Commands that read changed files in a folder where right commands wrote them."""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from opconform.suite.case import canonical_json
from opconform_runners.execution.log.outcomes import linked
from opconform_runners.verdicts.results import OUTCOMES, line_of
from tests.conftest import MINIATURES, Run, whole
from tests.robustness.hostile_suites import packed

SPEC = """\
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


class Commands:
    """The commands that read files, in a folder where right ones wrote them."""

    def __init__(self, folder: Path, opconform: Run) -> None:
        self._folder = folder
        self._opconform = partial(opconform, cwd=folder, code=None)
        (folder / "spec.yaml").write_text(whole(SPEC))
        for line in (
            "generate spec.yaml --out suite --jobs 1",
            f"run suite --backend {MINIATURES}:LosesNegativeZero --out failing",
            "run suite --backend numpy --record record.zip",
            "run suite --backend numpy --out passing",
            "certificate keygen me",
            "certificate judge record.zip --suite suite --out judged --sign me.key",
        ):
            assert self.run(line) < 2, line
        packed(folder / "suite", folder / "suite.zip")

    def run(self, line: str) -> int:
        """The exit code of a command, which is a documented one."""
        done = self._opconform(*line.split())
        assert done.returncode in (0, 1, 2, 3), (line, done.stderr)
        assert "Traceback" not in done.stderr, (line, done.stderr)
        return done.returncode

    def all_of(self, *lines: str) -> int:
        """The worst exit code of some commands."""
        return max(self.run(line) for line in lines)

    def content(self, name: str) -> bytes:
        """The bytes of a file."""
        return (self._folder / name).read_bytes()

    def contents(self, folder: str, pattern: str) -> tuple[bytes, ...]:
        """The bytes of the files of a folder whose names match."""
        return tuple(path.read_bytes() for path in sorted((self._folder / folder).rglob(pattern)))

    def file(self, name: str, *lines: str) -> Callable[[bytes], int]:
        """A reader that writes a file and runs commands."""

        def read(content: bytes) -> int:
            path = self._folder / name
            path.unlink(missing_ok=True)
            path.write_bytes(content)
            path.chmod(0o600)
            return self.all_of(*lines)

        return read

    def copied(self, folder: str) -> Path:
        """A new copy of a folder."""
        place = self._folder / f"changed-{folder}"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._folder / folder, place)
        shutil.rmtree(self._folder / "out", ignore_errors=True)
        return place

    def suite(self, change: Callable[[Path, bytes], object]) -> Callable[[bytes], int]:
        """A reader of a suite in which something was changed, under right digests."""

        def read(content: bytes) -> int:
            change(self.copied("suite"), content)
            lines = (
                "verify changed-suite",
                "list changed-suite",
                "run changed-suite --backend numpy --out out --force",
            )
            return self.all_of(*lines, f"run changed-suite --backend {MINIATURES}:LosesNegativeZero --out out --force")

        return read

    def results(self, name: str, change: Callable[[bytes], bytes] = bytes) -> Callable[[bytes], int]:
        """A reader of the results of a run in which one file was changed."""

        def read(content: bytes) -> int:
            folder = self.copied("failing")
            (folder / name).write_bytes(change(content))
            if name == "results.jsonl":
                (folder / "report.json").unlink()
            if name == OUTCOMES:  # as a killed run left it
                (folder / "report.json").unlink()
                (folder / "results.jsonl").unlink()
            formats = ("junit", "markdown", "badge")
            lines = [f"report changed-failing --{form} -" for form in formats]
            return (
                self.all_of(
                    *lines,
                    "report changed-failing --github",
                    "report changed-failing --suite suite",
                    "diff failing changed-failing",
                    "diff changed-failing failing",
                    f"run suite --backend {MINIATURES}:LosesNegativeZero --out changed-failing",
                )
                // 3
            )

        return read

    def recorded(self, name: str) -> Callable[[bytes], int]:
        """A reader of recorded outputs in which one member was changed, under right digests."""
        with zipfile.ZipFile(self._folder / "record.zip") as archive:
            members = {member: archive.read(member) for member in archive.namelist()}

        def read(content: bytes) -> int:
            changed = {**members, name: content}
            old, new = (hashlib.sha256(it).hexdigest().encode() for it in (members[name], content))
            changed[OUTCOMES] = relinked(changed[OUTCOMES].replace(old, new))
            write_zip(self._folder / "changed.zip", changed)
            return self.run("certificate judge changed.zip --suite suite --out judged-out --force")

        return read


def relinked(log: bytes) -> bytes:
    """A log of outcomes with right digests; a line that is not an object stays."""
    header, *lines = log.splitlines(keepends=True) or [b"\n"]
    return linked(header, [unlinked(line) for line in lines])


def unlinked(line: bytes) -> bytes:
    """A line of a log without its digest."""
    try:
        return line_of({key: value for key, value in dict(json.loads(line)).items() if key != "chain"})
    except (TypeError, ValueError, RecursionError):
        return line


def sealed(document: bytes, lines: bytes | None = None) -> bytes:
    """A JSON document with its checksum, and the digest of some lines; what is not an object stays."""
    try:
        parsed = json.loads(document)
    except (ValueError, RecursionError):
        return document
    if not isinstance(parsed, dict):
        return document
    parsed.pop("checksum", None)
    if lines is not None and "digest" in parsed:
        parsed["digest"] = hashlib.sha256(lines).hexdigest()
    try:
        parsed["checksum"] = hashlib.sha256(canonical_json(parsed).encode(errors="replace")).hexdigest()
    except ValueError:
        return document
    return (json.dumps(parsed, indent=1, ensure_ascii=False) + "\n").encode(errors="replace")


def with_footer(content: bytes) -> bytes:
    """Results whose footer counts and seals the lines before it."""
    *lines, last = content.splitlines() or [b""]
    try:
        footer = dict(json.loads(last))
    except (ValueError, TypeError, RecursionError):
        return content
    body = b"".join(line + b"\n" for line in lines)
    footer |= {"cases": max(0, len(lines) - 1), "digest": hashlib.sha256(body).hexdigest()}
    text = json.dumps(footer, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return body + text.encode(errors="replace") + b"\n"


def write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a zip file."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
