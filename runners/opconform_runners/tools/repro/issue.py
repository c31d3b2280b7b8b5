"""A failure of a backend as the Markdown of an issue, in the form that the backend's tracker asks for."""

import os
import platform
import re
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

from markupsafe import Markup

from opconform.explanation.specification import place_of
from opconform.suite.case import Accept
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.system.resources import render
from opconform.system.temporary import TemporaryFolder
from opconform.system.text import one_line, printable
from opconform_runners.findings.failures import severity_of
from opconform_runners.findings.history import Interval, span
from opconform_runners.harness.command import SAFE_PATH, Launch
from opconform_runners.harness.environment import environment_facts, environment_of
from opconform_runners.reports.terminal.case_text import seen_link
from opconform_runners.tools.repro.observation import PRIVATE, Observation
from opconform_runners.tools.repro.script import SCRIPTS

#: The most characters of a title, of a quoted text, and of a script's output.
_TITLE, _QUOTED, _OUTPUT = 200, 2_000, 8_000
#: The seconds in which a script starts.
_START = 60.0
#: What has a meaning in a title, which is Markdown in some places and plain text in others.
_UNSAFE = re.compile(r"[^\w\s.,;:/()='%+-]")
_PROSE = re.compile(r"[A-Za-z0-9](?:(?!://)[\w\s.,;:/()='%+-])*")


def issue_of(
    suite: Suite, entry: Entry, observation: Observation, *, script: str, launch: Launch, interval: Interval | None
) -> str:
    """The Markdown of a case that a backend fails, with the output of its script, which is executed."""
    case, result, who = suite.case(entry), observation.result, observation.implementation
    notes = suite.header.requirements.get(entry.op, {})
    names = [name for name in result.broken or entry.requirements if name in notes]
    kind = severity_of(result).replace("memory", "memory fault") if result.reason else "rejected-valid"
    environment = environment_of(launch.command, who, () if result.placement is None else (result.placement,))
    packages = ", ".join(" ".join(package) for package in sorted(environment.packages.items()))
    facts = {
        "Backend": who.title,
        "Operating system": f"{_distribution()} {environment.system} {environment.machine}".strip(),
        **dict(environment_facts(environment, who.device)),
        "Python": environment.python,
        "Packages": packages,
    }
    text = render(
        "repro/issue.md.j2",
        form=SCRIPTS[who.name].issue if who.name in SCRIPTS else "repro/issue-form.md.j2",
        title=Markup(one_line(_UNSAFE.sub(" ", f"{entry.op}: {kind} ({case.title})"), _TITLE)),  # noqa: S704 - it is plain
        private=PRIVATE if observation.is_memory_error else "",
        op=entry.op,
        case=case.id,
        given=result.inputs,
        outputs=case.expect.accept if isinstance(case.expect, Accept) else None,
        actual=observation.sentence,
        since="" if interval is None else span(interval),
        requirements=[(name, notes[name], place_of(entry.op, name, notes[name].text)) for name in names],
        seen=[(report, seen_link(report)) for report in case.seen],
        script=_fenced(script, "python"),
        output=_fenced(_output(script, launch), "text"),
        who=who,
        environment=environment,
        facts=facts.items(),
        distribution=_distribution() or environment.system,
        system=platform.system().replace("Darwin", "Mac"),
        code=_code,
        prose=_prose,
    )
    return str(text)


def _output(script: str, launch: Launch) -> str:
    """What a script prints in the interpreter of the backend, and how it ends."""
    command = (launch.command.python or sys.executable, SAFE_PATH, "-")
    environment, limit = {**os.environ, "PYTHONUTF8": "1"}, launch.timeout + _START
    try:
        with TemporaryFolder() as folder:
            options: dict[str, Any] = {"cwd": folder, "env": environment, "timeout": limit}
            done = subprocess.run(command, input=script.encode(), capture_output=True, check=False, **options)
        output, code = done.stdout + done.stderr, done.returncode
        end = f"exit code: {code}{f' ({signal.strsignal(-code)})' if code < 0 else ''}"
    except subprocess.TimeoutExpired as hang:
        output, end = hang.stdout or b"", f"The script did not end within {limit:g} seconds."
    return f"{output.decode(errors='replace')[:_OUTPUT]}\n{end}"


def _distribution() -> str:
    """The name and version of a Linux distribution; empty on other systems."""
    with suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return ""


def _code(text: object) -> Markup:
    """A text on one line as code, in which GitHub sees no formatting, mention or reference."""
    plain = one_line(str(text), _QUOTED)
    marks, space = _marks(plain, 1), " " if "`" in plain[:1] + plain[-1:] else ""
    return Markup(f"{marks}{space}{plain}{space}{marks}" if plain else "")  # noqa: S704 - it is code


def _prose(text: str | None) -> Markup:
    """A text on one line as it is if no character in it has a meaning, and otherwise as code."""
    return Markup(one_line(text, _QUOTED)) if _PROSE.fullmatch(text or "") and text else _code(text or "")  # noqa: S704 - it is plain


def _fenced(text: str, language: str) -> Markup:
    """A block of text as code."""
    plain = printable(text.strip("\n"), lines=True)
    marks = _marks(plain, 3)
    return Markup(f"{marks}{language}\n{plain}\n{marks}")  # noqa: S704 - it is code


def _marks(text: str, least: int) -> str:
    """More backticks than a text has in a row."""
    return "`" * max(least, *(len(ticks) + 1 for ticks in ["", *re.findall("`+", text)]))
