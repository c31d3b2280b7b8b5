"""What `run --outputs` does: a suite executed with its progress shown, and its outputs kept for somebody else."""

import json
from pathlib import Path

import click

from opconform.errors import UsageError
from opconform.suite.reader import Suite
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.recorder import record
from opconform_runners.execution.runner import RunOptions
from opconform_runners.harness.command import Command


def record_shown(suite: Suite, command: Command, out: Path, options: RunOptions, *, as_json: bool) -> int:
    """Execute a suite, write what comes of it, and say what that was.

    Returns:
        The exit code: 0 where the outputs can be judged, 1 where the harness failed on some.
    """
    if options.timeout <= 0 or options.jobs < 1:
        raise UsageError("--timeout must be over 0, and --jobs 1 or more.")
    with progress("run, twice", of="executions", quiet=as_json) as tell:
        recording = record(suite, command, out, options, tell)
    origin = recording.origin
    if as_json:
        counts = dict(origin.counts)
        print_document(
            json.dumps({"out": str(out), "sha256": recording.digest, "suite": origin.suite, "counts": counts})
        )
    else:
        who = origin.implementation
        counted = ", ".join(f"{count:,} {name}" for name, count in origin.counts.items())
        click.echo(f"{out}: {who.name} {who.version}, {sum(origin.counts.values()):,} cases ({counted})")
        click.echo(f"SHA-256 {recording.digest}")
    return 1 if origin.counts.get("error") else 0
