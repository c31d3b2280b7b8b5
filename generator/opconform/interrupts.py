"""Interrupts: Ctrl-C and termination signals, and sections that defer them."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: The signals of a cancelled job and of a closed terminal.
_ENDING = ("SIGTERM", "SIGHUP")


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
    before = {each: signal.getsignal(each) for each in numbers if signal.getsignal(each) == signal.SIG_DFL}
    for each in before:
        signal.signal(each, interrupt)
    try:
        yield received
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _interrupt_here() -> None:
    """Interrupt now, or between two steps of the event loop: in a task, it would be that task's unhandled exception."""
    import asyncio  # it takes as long as the rest of a short command

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise KeyboardInterrupt from None
    loop.call_soon_threadsafe(signal.default_int_handler, signal.SIGINT, None)


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
