"""Suites and results in S3: with moto's server, and the package s3fs."""

import contextlib
import http.client
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from opconform_runners.verdicts.results import read_written
from tests.suite.test_suite import tree
from tests.test_cluster import CORE, Farm, begun, timeless

pytestmark = pytest.mark.ci_only
PROGRAMS = Path(sys.executable).parent
SPEC = "Split-1"
NUMPY = ("--backend", "numpy", "--jobs", "1")
#: How many seconds the server may take to start.
PATIENCE = 60.0


def free_port() -> int:
    """A port that no server uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """The port of an S3 server, with the bucket `tests`."""
    port = free_port()
    process = subprocess.Popen(
        [PROGRAMS / "moto_server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("PUT", "/tests")
                assert connection.getresponse().status == 200
                break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def started(folder: Path, port: int, *words: object, **variables: str) -> subprocess.Popen[str]:
    """A command in a folder, with the credentials and the address of the server."""
    folder.mkdir(exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "AWS_ACCESS_KEY_ID": "name",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    return subprocess.Popen(
        [PROGRAMS / "opconform", *map(str, words)],
        cwd=folder,
        env={**environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    """What a command printed."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == code, out + err
    return out + err


class Failing(BaseHTTPRequestHandler):
    """A proxy of the server that fails every tenth request."""

    protocol_version = "HTTP/1.1"
    port: int
    requests: Iterator[int]

    def answer(self) -> None:
        """Answer a request."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if next(self.requests) % 10 == 0:
            self.send(500, {}, b"")
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(self.command, self.path, body, dict(self.headers))
        response = connection.getresponse()
        content = response.read()
        self.send(response.status, dict(response.headers), content)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = answer  # noqa: N815 - the names of the standard library

    def send(self, status: int, headers: dict[str, str], content: bytes) -> None:
        """Send an answer; that to HEAD has the length of a file, and no content."""
        self.send_response(status)
        length = headers.get("Content-Length", str(len(content)))
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", length if self.command == "HEAD" else str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def failing(server: int) -> Iterator[int]:
    """The port of a proxy that fails every tenth request."""
    requests = itertools.count(1)
    handler = type("Handler", (Failing,), {"port": server, "requests": requests})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield proxy.server_port
        proxy.shutdown()
    assert next(requests) > 10


def test_a_certification_on_a_cluster_in_s3_is_the_local_one(server: int, tmp_path: Path) -> None:
    """Though a worker is killed: the suite, byte for byte, and the results."""
    certify = ("certify", "--backend", "numpy", *CORE, "--out")
    ours, theirs = tmp_path / "s3" / "opconform-out" / "s3-tests-certified", tmp_path / "local" / "certified"
    ended(started(tmp_path / "local", server, *certify, "certified"))
    with contextlib.closing(Farm(tmp_path)) as farm:
        farm.start_workers(2)
        running = started(tmp_path / "s3", server, *certify, "s3://tests/certified.zip", "--executor", farm.url)
        farm.commands.append(running)
        begun(ours, 100)
        farm.kill(farm.processes[1])
        ended(running)

    assert tree(ours / "suite") == tree(theirs / "suite")
    assert read_written(ours / "results.jsonl").header == read_written(theirs / "results.jsonl").header
    assert timeless(ours) == timeless(theirs)
    ended(started(tmp_path / "elsewhere", server, "diff", "s3://tests/certified.zip", theirs))


@pytest.mark.parametrize("name", ["server", "failing"])
def test_a_run_from_s3_is_the_local_one(tmp_path: Path, request: pytest.FixtureRequest, name: str) -> None:
    """Even if every tenth request fails, which is repeated."""
    port, place = request.getfixturevalue(name), f"s3://tests/{name}"
    generate = ("generate", "--profile", "core", SPEC, "--jobs", "1", "--out")
    ended(started(tmp_path / "local", port, *generate, "suite"))
    ended(started(tmp_path / "local", port, "run", "suite", *NUMPY, "--out", "results"))
    for words in (
        (*generate, f"{place}/suite.zip"),
        *[("verify", f"{place}/suite.zip")] * 2,
        ("run", f"{place}/suite.zip", *NUMPY, "--out", f"{place}/results.zip"),
    ):
        said = ended(started(tmp_path / "s3", port, *words))
        digest = read_written(tmp_path / "local" / "results" / "results.jsonl").header.suite.digest
        assert words[0] == "run" or digest in said

    kept = tmp_path / "s3" / "opconform-out" / f"s3-tests-{name}-results"
    assert timeless(kept) == timeless(tmp_path / "local" / "results")


def test_of_two_writers_at_once_one_gets_an_error(server: int, tmp_path: Path) -> None:
    """The place has the results of the other, whole."""
    ended(started(tmp_path / "one", server, "generate", "--profile", "core", SPEC, "--out", "s3://tests/suite.zip"))
    run = ("run", "s3://tests/suite.zip", *NUMPY, "--out", "s3://tests/same.zip", "--quiet")
    writers = {name: started(tmp_path / name, server, *run) for name in ("one", "two")}
    said = {name: writer.communicate(timeout=600)[1] for name, writer in writers.items()}
    codes = {name: writer.returncode for name, writer in writers.items()}
    [winner], [loser] = ([name for name, code in codes.items() if code == wanted] for wanted in (0, 2))
    kept = tmp_path / winner / "opconform-out" / "s3-tests-same"

    assert "error: s3://tests/same.zip already has other content, and it was not replaced" in said[loser]
    ended(started(tmp_path, server, "report", "s3://tests/same.zip", "--junit", "stored.xml"))
    ended(started(tmp_path, server, "report", kept, "--junit", "kept.xml"))
    assert (tmp_path / "stored.xml").read_bytes() == (tmp_path / "kept.xml").read_bytes()


@pytest.mark.parametrize(
    ("url", "variables", "said"),
    [
        ("s3://missing-bucket/suite.zip", {}, "cannot be read: not found"),
        ("s3://tests/suite.zip", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "Could not connect to the endpoint URL"),
        ("s3://tests/suite.zip", {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "locate credentials"),
    ],
    ids=["missing", "unreachable", "no-credentials"],
)
def test_an_error_of_s3_is_one_sentence(
    server: int, tmp_path: Path, url: str, variables: dict[str, str], said: str
) -> None:
    """And the command ends with 2."""
    shown = ended(started(tmp_path, server, "verify", url, HOME=str(tmp_path), **variables), code=2)

    assert shown.startswith(f"error: {url} cannot be read: ")
    assert said in shown
    assert len(shown.splitlines()) == 1


def test_a_missing_bucket_is_found_out_before_anything_is_made(server: int, tmp_path: Path) -> None:
    """By writing a small file, which is deleted again in a bucket that exists."""
    shown = ended(started(tmp_path, server, "generate", SPEC, "--out", "s3://missing-bucket/suite.zip"), code=2)

    assert shown.startswith("error: s3://missing-bucket/suite.zip cannot be written: not found")
    assert not (tmp_path / "opconform-out").exists()


def test_a_store_that_never_answers_ends_the_command(tmp_path: Path) -> None:
    """After the time-outs and repetitions of s3fs, which are those of its configuration."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        brief = {"FSSPEC_S3": '{"config_kwargs": {"read_timeout": 1}}', "AWS_MAX_ATTEMPTS": "1"}
        verify = started(tmp_path, silent.getsockname()[1], "verify", "s3://tests/suite.zip", **brief)
        shown = ended(verify, code=2)

    assert shown.startswith("error: s3://tests/suite.zip cannot be read: ")
    assert len(shown.splitlines()) == 1
