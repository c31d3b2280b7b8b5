"""Interrupts: Ctrl-C put off while something must not be broken off in the middle."""

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """Put Ctrl-C off until this is done, and then raise it. Only the main thread is ever interrupted.

    Raises:
        KeyboardInterrupt: Ctrl-C came meanwhile.
    """
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
