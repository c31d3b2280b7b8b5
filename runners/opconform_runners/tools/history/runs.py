"""The runs of several releases on one suite, beside each other, each by a command of its own in a folder of its own."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from opconform.errors import DiskError, HarnessError, OpconformError
from opconform.suite.selection.selection import Selection
from opconform_runners.execution.log.logged_outcome import LoggedOutcome
from opconform_runners.execution.log.outcomes import log_in
from opconform_runners.execution.plan import selected
from opconform_runners.execution.progress import OnProgress
from opconform_runners.findings.history import Release, Trials
from opconform_runners.harness.command import SAFE_PATH
from opconform_runners.harness.outcome import Crashed, TimedOut
from opconform_runners.reports.report_file import read_report
from opconform_runners.tools.history.environments import Environments
from opconform_runners.tools.history.installer import Installer, said
from opconform_runners.tools.history.trials import Executor
from opconform_runners.verdicts.results import OUTCOMES, REPORT, RESULTS, read_written
from opconform_runners.verdicts.run_header import ids_digest
from opconform_runners.verdicts.verdict import Fail, Pass

#: Seconds between two looks at how far the runs are.
_LOOK = 0.5
#: The exit codes of a run that has results.
_JUDGED = (0, 1)

#: Called with each release that is done.
OnRelease = Callable[[Release], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseRuns:
    """How releases are run.

    Attributes:
        out: The folder with one folder of results per release.
        executor: Executes single cases of the suite, with as many jobs as releases run beside each other.
        selection: The cases of the suite that are run.
        force: Whether the results of another run are replaced.
    """

    environments: Environments
    installer: Installer
    executor: Executor
    out: Path
    selection: Selection
    force: bool = False
    children: set["subprocess.Popen[str]"] = field(default_factory=set)
    stopped: Event = field(default_factory=Event)

    def releases(self, versions: Sequence[str], on_release: OnRelease, on_progress: OnProgress) -> list[Release]:
        """Run releases that are not done, the newest first; returns those that were reached, the oldest first.

        Raises `DiskError` or `KeyboardInterrupt` once every command has ended; what they wrote is kept.
        """
        with ThreadPoolExecutor(self.executor.jobs) as pool:
            futures = {pool.submit(self._release, version): version for version in reversed(versions)}
            try:
                self._watch(futures, on_release, on_progress)
            except BaseException:
                self.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                for child in [*self.children]:
                    child.terminate()
                raise
        return [future.result() for future in reversed(futures)]

    def known(self, version: str) -> Release:
        """A release by what an earlier command left in its folder."""
        try:
            return _release_in(self.out / version, version)
        except OpconformError:
            return Release(version=version, why="it was not run yet")

    def _watch(self, futures: "dict[Future[Release], str]", on_release: OnRelease, on_progress: OnProgress) -> None:
        waiting, cases = set(futures), len(selected(self.executor.suite, self.selection))
        while waiting:
            done, waiting = wait(waiting, _LOOK)
            for future in sorted(done, key=lambda x: futures[x]):
                on_release(future.result())
            running = (_lines(self.out / futures[x] / OUTCOMES) / (cases + 1) for x in waiting if x.running())
            fraction = (len(futures) - len(waiting) + sum(min(part, 1.0) for part in running)) / len(futures)
            on_progress(fraction, len(futures) - len(waiting))

    def _release(self, version: str) -> Release:
        """Install and run a release, or say why that is not possible."""
        try:
            self.environments.prepare(version, self.installer)
            if self.stopped.is_set():
                raise KeyboardInterrupt
            if self.force or not self._is_done(version):
                self._run(version)
            return _release_in(self.out / version, version)
        except DiskError:
            raise
        except OpconformError as error:
            return Release(version=version, why=str(error))

    def _is_done(self, version: str) -> bool:
        """Whether the folder of a release has a complete run of the same cases in the same environment."""
        path = self.out / version / RESULTS
        if not path.is_file() or not path.with_name(REPORT).is_file():
            return False
        written, command = read_written(path), self.environments.command(version)
        selection = ids_digest([entry.id for entry in selected(self.executor.suite, self.selection)])
        same = (command.options, command.program, self.executor.suite.header.identity, selection)
        past = written.header
        return written.is_complete and (past.started, past.program, past.suite.digest, past.selected) == same

    def _run(self, version: str) -> None:
        """Run a release by `opconform run`, which continues an interrupted run."""
        environments, out = self.environments, self.out / version
        python = environments.command(version).python
        words = [
            "run",
            self.executor.suite.store.root,
            "-b",
            environments.backend,
            "--python",
            python,
            "--out",
            out,
            "--quiet",
        ]
        words += ["--jobs", 1, "--timeout", self.executor.timeout, *(["--force"] if self.force else [])]
        words += [word for name in self.selection.profiles for word in ("--profile", name)]
        words += [word for pattern in self.selection.patterns for word in ("--select", pattern)]
        command = [sys.executable, SAFE_PATH, "-m", "opconform", *map(str, words)]
        # A session of its own, so that Ctrl-C reaches it once, from here.
        none, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(
            command, stdin=none, stdout=none, stderr=pipe, text=True, start_new_session=True
        ) as child:
            self.children.add(child)
            _, errors = child.communicate()
            self.children.discard(child)
        why = said(subprocess.CompletedProcess(command, child.returncode, "", errors))
        if os.strerror(errno.ENOSPC) in why:
            raise DiskError(out, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        if child.returncode not in _JUDGED:
            raise HarnessError(why)


def _release_in(out: Path, version: str) -> Release:
    """The release whose run is in a folder, as far as it got."""
    report = read_report(out)
    failing = {result.id for result in report.results if result.verdict == "fail"}
    executed: dict[str, Trials] = {}
    for logged in log_in(out).lines:
        if logged.case in failing and logged.execution != "neighbour-check":
            executed[logged.case] = executed.get(logged.case, Trials()) + _trial(logged)
    differing = {case: trials for case, trials in executed.items() if trials.failed and trials.passed}
    return Release(version=version, report=report, why=report.unfinished, executed=differing)


def _trial(logged: LoggedOutcome) -> Trials:
    """One execution in a log. A refusal is none: the refusal of an invalid case depends on its twin."""
    is_over = isinstance(logged.outcome, Crashed | TimedOut)
    return Trials(failed=int(is_over or isinstance(logged.own, Fail)), passed=int(isinstance(logged.own, Pass)))


def _lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return 0
