"""What the fuzzed documents are given to: each reader of opconform, and what uses all that was read."""

import contextlib
import hashlib
import io
import json
import shutil
import zipfile
from collections import deque
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import yaml
from rich.console import Console

from opconform.errors import SuiteError
from opconform.generation.case_files import case_files
from opconform.generation.expansion import expand
from opconform.generation.options import Limits, Options
from opconform.specs.loader import load_specs
from opconform.suite.case import canonical_json
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.verification import _case_faults as _entry_faults
from opconform.suite.verification import faults_of
from opconform.tensors.npz import arrays_of
from opconform_runners.certificates.certificate import envelope_of, read_certificate, signed
from opconform_runners.certificates.keys import read_private, read_public
from opconform_runners.certificates.statement import summary_lines
from opconform_runners.certificates.verification import check_claims, check_profiles, check_results, check_suite
from opconform_runners.cli.shared.steps import page_of_runs
from opconform_runners.execution.case_verdicts import facts_of, result_of
from opconform_runners.execution.logged_outcome import answer_of
from opconform_runners.execution.outcomes import linked
from opconform_runners.execution.outputs import output_limit, read_outputs
from opconform_runners.execution.outputs_zip import KeptOutputs
from opconform_runners.execution.record import open_record
from opconform_runners.execution.replay import judge
from opconform_runners.harness.outcome import Returned
from opconform_runners.harness.protocol import reply_faults, reply_of, said_faults, said_of
from opconform_runners.reports.diff import changes_between, changes_lines
from opconform_runners.reports.formats.badge import badge_text
from opconform_runners.reports.formats.csv import csv_text
from opconform_runners.reports.formats.github import annotations_text
from opconform_runners.reports.formats.junit import junit_text
from opconform_runners.reports.formats.markdown import markdown_text
from opconform_runners.reports.report_file import finished
from opconform_runners.reports.terminal import print_summary
from opconform_runners.tools.protocol_check.conversation import decoded, said_in
from opconform_runners.verdicts.baseline import read_baseline
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.results import line_of, read_results

BASELINE = b"""\
# Failures that are expected

Split-1/axis-range/*  rejected-valid,pass  # flaky  https://example.org/1
VariadicSplit-1/accepted/0123456789  value  # to be explained
#- VariadicSplit-1/accepted  shape  # gone
"""
GREETING = json.dumps(
    {
        "protocol": 1,
        "implementation": {"name": "x", "version": "1", "device": "CPU", "language": "C++"},
        "dialects": ["openvino"],
        "element_types": ["f32", "i64"],
        "operations": ["Split-1"],
        "dynamic": True,
        "bindings": ["constant"],
        "graphs": False,
        "mapped": ["axis.range"],
    }
).encode()
REPLIES = tuple(
    json.dumps(each).encode()
    for each in (
        {"seq": 1, "status": "ok", "seconds": 0.5, "element_types": [["f32", "f32"]]},
        {"seq": 2, "status": "rejected", "stage": "build", "message": "no", "requirement": "axis.range"},
        {"seq": 3, "status": "unsupported", "message": "no"},
        {"seq": 4, "status": "error", "message": "no", "traceback": "x", "seconds": 1},
    )
)
_LIMIT = 1 << 24
_LIMITS = Limits(cases=500, elements=1 << 12)


def as_json(spec: str) -> bytes:
    """A spec as JSON, which is YAML too."""
    return json.dumps(yaml.safe_load(spec)).encode()


def read_npz(content: bytes) -> None:
    """Read an `.npz` file."""
    arrays_of(content, "x.npz", limit=_LIMIT)


class SpecReader:
    """Loads a spec, expands it, and makes the files of its first cases."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, content: bytes) -> None:
        """Read a spec."""
        self._path.write_bytes(content)
        for spec in load_specs([self._path]):
            for group in spec.groups:
                for each in islice(expand(group, limits=_LIMITS), 3):
                    case_files(each, Options())


class SuiteReader:
    """Puts one changed file into a suite, seals it, and uses every case of it."""

    def __init__(self, members: Mapping[str, bytes], path: Path) -> None:
        self._members = members
        self._path = path
        names = [each.rpartition("/")[0] for each in members if each.endswith("/case.json")]
        self._cases = {json.loads(members[f"{each}/case.json"])["id"]: each for each in names}
        self._turn = 0

    def read_case(self, content: bytes) -> None:
        """Read a `case.json` in the place of the first case's, or of the one whose id it has."""
        folders = [*self._cases.values()]
        folder = next((each for each in folders if each.encode() in content), folders[0])
        self._read({f"{folder}/case.json": content})

    def read_arrays(self, content: bytes) -> None:
        """Read an `.npz` file in the place of each one in turn."""
        names = [each for each in self._members if each.endswith(".npz")]
        self._turn += 1
        self._read({names[self._turn % len(names)]: content})

    def read_header(self, content: bytes) -> None:
        """Read a `suite.json`, as it is and sealed again."""
        self._write({**self._members, "suite.json": content})
        self._use()
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            return
        if isinstance(document, dict):
            self._write({**self._members, "suite.json": _with_checksum(document)})
            self._use()

    def read_manifest(self, content: bytes) -> None:
        """Read a manifest, sealed."""
        self._write({**self._members, **self._sealed(content)})
        self._use()

    def read_zip(self, content: bytes) -> None:
        """Read a zip file as it is."""
        self._path.write_bytes(content)
        self._use()

    def _read(self, changed: Mapping[str, bytes]) -> None:
        members = {**self._members, **changed}
        lines = [json.loads(line) for line in members["manifest.jsonl"].splitlines()]
        for line in lines:
            for name in line["files"]:
                line["files"][name] = hashlib.sha256(members[f"{line['id']}/{name}"]).hexdigest()
        manifest = "".join(canonical_json(line) + "\n" for line in lines).encode()
        self._write(members | self._sealed(manifest))
        self._use(next(iter(changed)).rpartition("/")[0])

    def _sealed(self, manifest: bytes) -> dict[str, bytes]:
        header = json.loads(self._members["suite.json"])
        header["digest"] = hashlib.sha256(manifest).hexdigest()
        return {"manifest.jsonl": manifest, "suite.json": _with_checksum(header)}

    def _write(self, members: Mapping[str, bytes]) -> None:
        _write_zip(self._path, members)

    def _use(self, folder: str = "") -> None:
        """Verify the suite, and use the case in a folder, or all of them."""
        if not folder:
            deque(faults_of(self._path), maxlen=0)
        try:
            suite = open_suite(self._path)
        except SuiteError:
            return
        for entry in [each for each in suite.entries if folder in ("", each.id)]:
            if folder:
                deque(_entry_faults(suite, entry), maxlen=0)
            try:
                _use_case(suite, entry.id)
            except SuiteError:
                continue


def _use_case(suite: Suite, identity: str) -> None:
    """Describe a case, judge right and wrong outputs of it, and say so."""
    entry = suite.by_id[identity]
    case = suite.case(entry)
    output_limit(suite, entry, case)
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    description_of(case, feeds)
    right = [
        tuple(suite.arrays(entry, expected_name(feed)).values()) if expected_name(feed) in entry.files else ()
        for feed in range(case.feeds)
    ]
    wrong = [tuple(each.reshape(-1)[::-1].reshape(each.shape) for each in outputs) for outputs in right]
    for outputs in (right, wrong, [tuple(each.values()) for each in feeds]):
        outcome = Returned(outputs=tuple(outputs), element_types=None, seconds=0.5)
        verdict = first_verdict(suite, entry, case, outcome)
        result_of(suite, entry, case, facts_of(answer_of(outcome, keeps=False)[0]), verdict, said_of(GREETING)[0])


def _with_checksum(document: dict[str, object]) -> bytes:
    document = {name: each for name, each in document.items() if name != "checksum"}
    try:
        checksum = hashlib.sha256(canonical_json(document).encode(errors="replace")).hexdigest()
    except ValueError:
        checksum = ""
    return (json.dumps(document | {"checksum": checksum}, indent=1, ensure_ascii=False) + "\n").encode(errors="replace")


def _write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    path.write_bytes(packed.getvalue())


class RunReader:
    """Puts one changed file into a folder of results, and makes every report of it."""

    def __init__(self, out: Path, suite: Path, folder: Path) -> None:
        self._right = finished(out).report
        self._suite = suite
        self._folder = folder
        self._out = out
        shutil.copytree(out, folder)

    def read_results(self, content: bytes) -> None:
        """Read results, as they are and with a right footer."""
        self._put("results.jsonl", content)
        with contextlib.suppress(SuiteError):
            self._use()
        lines = b"".join(line + b"\n" for line in content.splitlines()[:-1])
        footer = json.loads((self._out / "results.jsonl").read_bytes().splitlines()[-1])
        footer |= {"cases": max(0, lines.count(b"\n") - 1), "digest": hashlib.sha256(lines).hexdigest()}
        self._put("results.jsonl", lines + canonical_json(footer).encode() + b"\n")
        try:
            read_results(self._folder / "results.jsonl")
            (self._folder / "report.json").unlink()
            self._use()
        finally:
            self._restore("results.jsonl")
            self._restore("report.json")

    @property
    def log(self) -> bytes:
        """The log of the run, without digests."""
        header, *lines = (self._out / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
        return header + b"".join(unlinked(line) for line in lines)

    def read_log(self, content: bytes) -> None:
        """Read the log of a run that was killed, with right digests."""
        header, *lines = content.splitlines(keepends=True) or [b"\n"]
        self._put("outcomes.jsonl", linked(header, lines))
        (self._folder / "report.json").unlink()
        (self._folder / "results.jsonl").unlink()
        try:
            finished(self._folder, self._suite)
        finally:
            for name in ("outcomes.jsonl", "results.jsonl", "report.json"):
                self._restore(name)

    def read_report(self, content: bytes) -> None:
        """Read a report."""
        self._put("report.json", content)
        try:
            self._use()
        finally:
            self._restore("report.json")

    def read_kept(self, content: bytes) -> None:
        """Read the outputs that were kept of each case."""
        with zipfile.ZipFile(self._out / "outputs.zip") as archive:
            members = {each.filename: archive.read(each) for each in archive.infolist()}
        _write_zip(
            self._folder / "outputs.zip",
            {name: content if name.endswith(".npz") else each for name, each in members.items()},
        )
        self._use_kept()

    def read_kept_zip(self, content: bytes) -> None:
        """Read the file of kept outputs."""
        self._put("outputs.zip", content)
        self._use_kept()

    def _use_kept(self) -> None:
        try:
            kept = KeptOutputs(self._folder)
            for each in self._right.results:
                kept.outputs(each.id)
            page_of_runs([finished(self._folder)], self._suite)
        finally:
            self._restore("outputs.zip")

    def _use(self) -> None:
        run = finished(self._folder)
        report = run.report
        for text in (junit_text, markdown_text, csv_text, badge_text, annotations_text):
            text(report)
        print_summary(report, Console(file=io.StringIO()))
        for changes in (changes_between(self._right, report), changes_between(report, self._right)):
            deque(changes_lines(changes), maxlen=0)
            json.dumps(changes)
        page_of_runs([run], self._suite if report.suite.digest == self._right.suite.digest else None)

    def _put(self, name: str, content: bytes) -> None:
        (self._folder / name).write_bytes(content)

    def _restore(self, name: str) -> None:
        shutil.copyfile(self._out / name, self._folder / name)


def unlinked(line: bytes) -> bytes:
    """A line of a log without its digest."""
    return line_of({key: value for key, value in json.loads(line).items() if key != "chain"})


class OutputsReader:
    """Puts one changed file into recorded outputs, seals them, and judges them."""

    def __init__(self, members: Mapping[str, bytes], suite: Path, path: Path, out: Path) -> None:
        self._members = members
        self._suite = open_suite(suite)
        self._path = path
        self._out = out
        self._turn = 0

    def read_log(self, content: bytes) -> None:
        """Read the log, with right digests."""
        header, *lines = content.splitlines(keepends=True) or [b"\n"]
        _write_zip(self._path, {**self._members, "outcomes.jsonl": linked(header, lines)})
        self._use()

    def read_arrays(self, content: bytes) -> None:
        """Read the outputs of a case, each in turn, sealed."""
        names = [each for each in self._members if each.endswith(".npz")]
        self._turn += 1
        name = names[self._turn % len(names)]
        old, new = (hashlib.sha256(each).hexdigest() for each in (self._members[name], content))
        header, *lines = self._members["outcomes.jsonl"].replace(old.encode(), new.encode()).splitlines(keepends=True)
        log = linked(header, [unlinked(line) for line in lines])
        _write_zip(self._path, {**self._members, name: content, "outcomes.jsonl": log})
        self._use()

    def read_zip(self, content: bytes) -> None:
        """Read a zip file as it is."""
        self._path.write_bytes(content)
        self._use()

    def _use(self) -> None:
        judge(self._suite, open_record(self._path), self._out)


class CertificateReader:
    """Checks a certificate in every way that there is."""

    def __init__(self, out: Path, suite: Path, key: Path, path: Path) -> None:
        self._out = out
        self._suite = open_suite(suite)
        self._private = read_private(key.with_suffix(".key"))
        self._public = read_public(key.with_suffix(".pub"))
        self._path = path
        self.payload = envelope_of(out / "certificate.json").payload

    def read(self, content: bytes) -> None:
        """Read a certificate."""
        self._path.write_bytes(content)
        statement = read_certificate(self._path, self._public)
        deque(summary_lines(statement), maxlen=0)
        check_profiles(statement, ["core"])
        check_results(statement, self._out)
        check_suite(statement, self._suite)
        check_claims(statement, self._out, self._suite)

    def read_statement(self, content: bytes) -> None:
        """Read a statement, signed."""
        self.read(signed(content, self._private))


class KeyReader:
    """Reads keys."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read_private(self, content: bytes) -> None:
        """Read a private key."""
        self._path.write_bytes(content)
        self._path.chmod(0o600)
        read_private(self._path)

    def read_public(self, content: bytes) -> None:
        """Read a public key."""
        self._path.write_bytes(content)
        read_public(self._path)


class BaselineReader:
    """Reads a baseline, and asks it about some cases."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, content: bytes) -> None:
        """Read a baseline."""
        self._path.write_bytes(content)
        baseline = read_baseline(self._path)
        baseline.lines_of({"Split-1/axis-range/0123456789": "accept", "VariadicSplit-1/accepted/0123456789": "reject"})
        str(baseline.text)


class OutputFileReader:
    """Reads the outputs that a harness wrote."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, content: bytes) -> None:
        """Read outputs."""
        self._path.write_bytes(content)
        read_outputs(self._path, "outputs.npz", limit=_LIMIT)


def read_greeting(line: bytes) -> None:
    """Read a reply to `start`, as `run` and as `harness check` do."""
    said_faults(line)
    document = decoded(line)
    if document is not None:
        said_in(document)
    said_of(line)


def read_reply(line: bytes) -> None:
    """Read a reply to `run`, as `run` and as `harness check` do."""
    reply_faults(line)
    reply_of(line)
