"""Interrupts: Ctrl-C and termination signals, and sections that defer them."""

import contextlib
import signal
import sys
import threading
from collections.abc import Coroutine, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

#: The signals of a cancelled job and of a closed terminal.
_ENDING = ("SIGTERM", "SIGHUP")
#: The name of the task that they cancel.
_MAIN = "opconform"
#: Seconds until an interrupt that Python dropped comes again.
_LATER = 0.01

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
        with _dropped_again(received):
            yield received
    finally:
        for key, handler in before.items():
            signal.signal(key, handler)


@contextlib.contextmanager
def _dropped_again(received: Sequence[int]) -> Iterator[None]:
    """Interrupt again where Python drops the exception: in a finalizer, or in the callback of a weak reference."""
    before = sys.unraisablehook

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            number = received[-1] if received else signal.SIGINT
            again = (threading.get_ident(), number)  # to this thread, so that what it waits for is interrupted
            threading.Timer(_LATER, signal.pthread_kill, again).start()  # raised here it would be dropped too
        else:
            before(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


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

    tasks: list[asyncio.Task[Any]] = []
    caught: list[int] = []

    async def named() -> T:
        task = asyncio.current_task()
        if task is not None:
            task.set_name(_MAIN)
            tasks.append(task)
            if caught:
                task.cancel()
        return await main

    with _cancelling(tasks, caught):
        try:
            result = asyncio.run(named())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    if caught:  # before or after the task
        raise KeyboardInterrupt
    return result


@contextlib.contextmanager
def _cancelling(tasks: "Sequence[asyncio.Task[Any]]", caught: list[int]) -> Iterator[None]:
    """Let Ctrl-C cancel a task as soon as it is there, and interrupt nothing of the event loop before and after it.

    asyncio's own handler is in place only while the task runs. A second Ctrl-C interrupts the task at once.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, _: FrameType | None) -> None:
        caught.append(number)
        for task in tasks:
            if not task.done():
                if len(caught) > 1:
                    raise KeyboardInterrupt
                task.get_loop().call_soon_threadsafe(task.cancel)  # wakes the loop, which may be waiting

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
