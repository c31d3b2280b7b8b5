"""Termination signals end a command as Ctrl-C does, wherever it is at that moment."""

import asyncio
import os
import signal

import pytest

from opconform.interrupts import as_interrupts


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler], ids=["background", "foreground"])
def test_a_signal_during_a_task_interrupts_the_event_loop(
    handler: signal.Handlers, caplog: pytest.LogCaptureFixture
) -> None:
    """The task is cancelled where it waits, and its exception is not logged as unhandled."""
    ended = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main() -> None:
        await asyncio.gather(work())

    before = signal.signal(signal.SIGINT, handler)
    try:
        with as_interrupts() as came, pytest.raises(KeyboardInterrupt):
            asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, before)

    assert ended == ["cancelled"]
    assert came == [signal.SIGTERM]
    assert caplog.records == []


def test_a_signal_outside_an_event_loop_interrupts_at_once() -> None:
    """Also where Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with as_interrupts() as came, pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGINT, before)

    assert came == [signal.SIGHUP]
