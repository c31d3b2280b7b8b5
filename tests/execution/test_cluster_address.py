"""An address of a cluster: what is there is found out before dask connects to it."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from opconform_runners.execution.scale import cluster


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-OpenSSH_9.0\r\n", b"\0"])
def test_a_port_without_a_scheduler_is_found_out_in_time(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It accepts a connection and says nothing, something else or too little."""
    monkeypatch.setattr(cluster, "CONNECT_LIMIT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        checked = pool.submit(cluster._check_answers, f"127.0.0.1:{server.getsockname()[1]}")
        connection, _ = server.accept()
        connection.sendall(said)
        fault = checked.exception()
        connection.close()

    assert isinstance(fault, OSError)


def test_a_scheduler_begins_with_a_short_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its length may come in parts."""
    monkeypatch.setattr(cluster, "CONNECT_LIMIT", 60.0)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        checked = pool.submit(cluster._check_answers, f"127.0.0.1:{server.getsockname()[1]}")
        connection, _ = server.accept()
        for part in (b"\x40\x01", b"\0" * 6, b"the message"):
            connection.sendall(part)
        assert checked.exception() is None
        connection.close()
