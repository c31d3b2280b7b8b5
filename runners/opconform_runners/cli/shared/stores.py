"""Paths on the command line that may be URLs of zip files in stores, such as `s3://bucket/suite.zip`.

What a command reads from a URL is downloaded to a temporary folder, and messages name the URL. What it writes to a URL
is written to a folder or zip file in `opconform-out` first, which stays, and is uploaded when the command has
completed. If that fails, the same command only uploads.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opconform.errors import OpconformError
from opconform.suite.installed import place_of
from opconform.suite.storage.url import is_url, without_credentials
from opconform.system.files import json_of
from opconform.system.temporary import TemporaryFolder
from opconform_runners.cli.shared.output.streams import name_copy

if TYPE_CHECKING:
    from opconform.suite.storage.bucket import Bucket

_DOWNLOADS, _UPLOADS = "opconform.downloads", "opconform.uploads"
#: The beginning of a URL with one slash; a single letter is a drive of Windows.
_ONE_SLASH = re.compile(r"([a-z][a-z0-9+]+):/(?!/)")
#: The exit codes of commands that have written everything.
_COMPLETE = (0, 1)


class _Path(click.Path):
    """A path that may look like a URL."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; a URL with one slash is refused, before a folder of that name is made."""
        if match := _ONE_SLASH.match(str(value)):
            meant = without_credentials(f"{match[1]}://{str(value)[match.end() :]}")
            self.fail(f"{meant.replace('://', ':/', 1)!r} is not a URL. Did you mean {meant}?", param, ctx)
        return super().convert(value, param, ctx)


class LocalPath(_Path):
    """A local path; a URL is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if is_url(str(value)):
            self.fail(f"{without_credentials(str(value))!r} is a URL, but a local path is needed here.", param, ctx)
        return super().convert(value, param, ctx)


class Source(_Path):
    """A path to read, a URL, or the name of an installed suite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or the path of the installed suite, or of the copy that is made of what is at the URL."""
        if ctx is None or ctx.resilient_parsing:
            return super().convert(value, param, ctx)
        if not is_url(str(value)):
            place = super().convert(value, param, ctx)
            if (installed := place_of(str(value))) == place:
                return place
            name_copy(installed, "==".join(installed.stem.rsplit("-", 1)))
            return installed
        from opconform.suite.storage.bucket import bucket_at  # few commands need it

        bucket = bucket_at(str(value))
        folder = TemporaryFolder()
        ctx.call_on_close(folder.cleanup)
        place = Path(folder.name) / bucket.name
        ctx.meta.setdefault(_DOWNLOADS, []).append((place, bucket))
        name_copy(place, bucket.url)
        return place


class Target(_Path):
    """A path to write, or a URL.

    Attributes:
        is_folder: Whether a command writes a folder for the URL `NAME.zip`; otherwise it writes the zip file.
    """

    is_folder = False

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or the path of the folder or zip file that is uploaded to the URL."""
        if ctx is None or ctx.resilient_parsing or not is_url(str(value)):
            return super().convert(value, param, ctx)
        from opconform.suite.storage.bucket import bucket_at  # few commands need it

        bucket = bucket_at(str(value))
        name = bucket.url.removesuffix(".zip") if self.is_folder else bucket.url
        place = Path("opconform-out") / re.sub(r"[^\w.-]+", "-", name)
        ctx.meta.setdefault(_UPLOADS, []).append((place, bucket))
        return place


class FolderTarget(Target):
    """A folder to write, or a URL."""

    is_folder = True


@contextlib.contextmanager
def transfers(context: click.Context) -> Iterator[None]:
    """Download what a command reads, and upload what it writes, unless it is interrupted or ends with an error."""
    places: list[tuple[Path, Bucket]] = context.meta.get(_UPLOADS, [])
    force = context.params.get("force")
    for place, bucket in places:
        if bucket.exists() and force is False:
            from opconform.suite.storage.bucket import occupied

            raise occupied(bucket.url)
        bucket.check_writable()
        place.parent.mkdir(parents=True, exist_ok=True)
    if (code := _taken_code(places)) is not None:
        click.echo("note: Only the upload was left of this command, which was completed before.", err=True)
        _upload(places, replace=bool(force), code=code)
        raise click.exceptions.Exit(code)
    for place, bucket in context.meta.get(_DOWNLOADS, []):
        bucket.download(place)
    try:
        yield
    except click.exceptions.Exit as ended:
        if ended.exit_code in _COMPLETE:
            _upload(places, replace=bool(force), code=int(ended.exit_code))
        raise
    _upload(places, replace=bool(force), code=0)


def _upload(places: "list[tuple[Path, Bucket]]", *, replace: bool, code: int) -> None:
    """Upload what a command has written, or note its exit code, so that the same command only uploads."""
    for place, bucket in places:
        try:
            bucket.upload(place, replace=replace)
        except (OpconformError, KeyboardInterrupt):
            with contextlib.suppress(OSError):
                _note_of(place).parent.mkdir(parents=True, exist_ok=True)
                _note_of(place).write_text(json.dumps({"code": code, "arguments": _arguments()}))
            click.echo(f"note: {place} was not uploaded to {bucket.url}. It is kept.", err=True)
            raise
        click.echo(f"note: {place} was uploaded to {bucket.url}.", err=True)


def _taken_code(places: "list[tuple[Path, Bucket]]") -> int | None:
    """The exit code of the same command, if it failed only to upload what is here; the note of it is removed."""
    for place, _ in places:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            note = json_of(_note_of(place).read_text())
            _note_of(place).unlink()
            if note["arguments"] == _arguments() and place.exists():
                return int(note["code"])
    return None


def _arguments() -> str:
    """The SHA-256 of the arguments of the command, which may have a password."""
    return hashlib.sha256(json.dumps(sys.argv[1:]).encode()).hexdigest()


def _note_of(place: Path) -> Path:
    """The file that says that a folder is complete, but not uploaded.

    It is among the user's caches: one beside the folder could come from a stranger, and so could the exit code in it.
    """
    from opconform_runners.tools.history.environments import default_cache  # few commands need it

    digest = hashlib.sha256(os.fsencode(place.absolute())).hexdigest()
    return default_cache().with_name("uploads") / f"{digest}.json"
