"""Interrupts: Ctrl-C and termination signals, and sections that defer them."""

import contextlib
import signal
import threading
from collections.abc import Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

#: The signals of a cancelled job and of a closed terminal.
_ENDING = ("SIGTERM", "SIGHUP")
#: The name of the task that they cancel.
_MAIN = "opconform"

T = TypeVar("T")


@contextlib.contextmanager
def as_interrupts() -> Iterator[list[int]]:
    """Treat termination signals as Ctrl-C. Yields the list of signals received; ignored ones stay ignored."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def interrupt(number: int, _: FrameType | None) -> None:
        received.append(number)
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # it is ignored in a shell's background
            _interrupt_here()

    numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) == signal.SIG_DFL}
    for item in before:
        signal.signal(item, interrupt)
    try:
        yield received
    finally:
        for key, handler in before.items():
            signal.signal(key, handler)


def _interrupt_here() -> None:
    """Interrupt now, or cancel the main task of the event loop, as asyncio does on Ctrl-C."""
    import asyncio  # it takes as long as the rest of a short command

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise KeyboardInterrupt from None
    main = [task for task in asyncio.all_tasks(loop) if task.get_name() == _MAIN]
    for item in main:
        loop.call_soon_threadsafe(item.cancel)


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `asyncio.run` does. A termination signal cancels it, even where Ctrl-C is ignored.

    Only the main task is cancelled: asyncio can wait forever for a subprocess if every task is cancelled while the
    pipes of the subprocess are connected.
    """
    import asyncio

    async def named() -> T:
        task = asyncio.current_task()
        if task is not None:
            task.set_name(_MAIN)
        return await main

    try:
        return asyncio.run(named())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextlib.contextmanager
def defer_interrupts() -> Iterator[None]:
    """Defer Ctrl-C until the block ends. Only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if caught:
        raise KeyboardInterrupt
