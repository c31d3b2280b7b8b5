"""Programs in processes of their own, forked from one that has imported opconform, which takes a second."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

#: What the process that others are forked from imports.
IMPORTED = [
    "opconform_runners.pytest_plugin.conformance",
    "opconform_runners.cli.generate",
    "opconform_runners.cli.run",
]


def forked(
    program: Callable[[list[str]], object],
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    folder: Path | None = None,
    limit: Callable[[], None] | None = None,
    timeout: float = 300,
) -> "subprocess.CompletedProcess[str]":
    """What a program prints, and how it ends.

    Args:
        program: Called with the words.
        words: The arguments.
        environment: The variables that it has, and no others.
        folder: The current folder.
        limit: Called first, to bound what the process may take.
        timeout: The seconds after which it is killed.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    pipes = [context.Pipe(duplex=False) for _ in range(2)]
    writers = [writer for _, writer in pipes]
    there = folder or Path.cwd()
    process = context.Process(target=_become, args=(program, list(words), dict(environment), there, limit, writers))
    process.start()
    for writer in writers:
        writer.close()
    with ThreadPoolExecutor(len(pipes)) as pool:
        texts = [pool.submit(_text, reader) for reader, _ in pipes]
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired([*words], timeout)
        printed, told = (text.result() for text in texts)
    return subprocess.CompletedProcess([*words], process.exitcode, printed, told)


def _become(
    program: Callable[[list[str]], object],
    words: list[str],
    environment: Mapping[str, str],
    folder: Path,
    limit: Callable[[], None] | None,
    writers: Sequence[Connection],
) -> None:
    """Execute the program, whose standard streams are these."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, writer in enumerate(writers, 1):
        os.dup2(writer.fileno(), stream)
        writer.close()
    if limit is not None:
        limit()
    sys.exit(program(words))  # type: ignore[arg-type]


def _text(reader: Connection) -> str:
    """Everything that is written until the other end is closed."""
    with open(os.dup(reader.fileno()), encoding="utf-8", newline="") as stream:  # noqa: PTH123 - a descriptor
        reader.close()
        return stream.read()
