"""What a harness does at one case to its files, its processes and itself."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.fake_harnesses.misbehaviour import ANY, FAIL, PASS, PASS_OR_ERROR, Act, Misbehaviour, Request
from tests.fake_harnesses.outputs import changed
from tests.fake_harnesses.replies import sleep, then
from tests.fake_harnesses.server import VARIABLE, npz, ok, outputs_of, rejected, right, target, write


def before(do: Act) -> Act:
    """Do something, and answer correctly."""
    return then(do, right)


def after(do: Act) -> Act:
    """Answer correctly, and do something."""
    return then(right, do)


def end(code: int) -> Act:
    """End the process."""
    return lambda _: os._exit(code)


def hurt(number: int, who: Callable[[], int]) -> Act:
    """Send a signal, and sleep."""
    return then(lambda _: os.kill(who(), number), sleep)


def _results() -> Path:
    return Path(os.environ[VARIABLE])


def _remove_results(_: Request) -> None:
    shutil.rmtree(_results(), ignore_errors=True)


def _take_the_report(_: Request) -> None:
    (_results() / "report.json").mkdir()


def _scratch(request: Request) -> Path:
    return target(request).parent


def _remove_case(request: Request) -> None:
    outputs = outputs_of(request)
    shutil.rmtree(request["dir"])
    target(request).write_bytes(npz(outputs))
    ok(request)


def _remove_scratch(request: Request) -> None:
    shutil.rmtree(_scratch(request), ignore_errors=True)


def _link_scratch(request: Request) -> None:
    _scratch(request).rename(f"{_scratch(request)}-moved")  # the harness leaves this folder, not opconform
    _scratch(request).symlink_to(_results())


def _move_scratch(request: Request) -> None:
    _link_scratch(request)
    shutil.rmtree(f"{_scratch(request)}-moved", ignore_errors=True)


def _close_scratch(request: Request) -> None:
    """Remove the permission to write, which affects every user except root."""
    Path(request["dir"]).chmod(0)
    _scratch(request).chmod(0o500)


def _fill(request: Request) -> None:
    for number in range(2_000):
        (_scratch(request) / f"{number}").touch()
    (_scratch(request) / "large").write_bytes(bytes(1 << 26))


def _deepen(request: Request) -> None:
    """Folders in folders, deeper than Python recurses."""
    for folder in (Path(request["dir"]), _scratch(request)):
        inner = os.open(folder, os.O_RDONLY)
        for _ in range(1_500):
            os.mkdir("d" * 100, dir_fd=inner)
            outer, inner = inner, os.open("d" * 100, os.O_RDONLY, dir_fd=inner)
            os.close(outer)
        os.close(inner)


def _empty_others(request: Request) -> None:
    for folder in _scratch(request).iterdir():
        if folder.is_dir() and folder != Path(request["dir"]):
            shutil.rmtree(folder, ignore_errors=True)


def _change_others(request: Request) -> None:
    own = Path(request["dir"]) / "inputs.npz"
    for number, other in enumerate(sorted(own.parents[1].glob("*/inputs.npz"))):
        if other != own:
            other.write_bytes(own.read_bytes()) if number % 2 else other.unlink()


def _daemon(act: Callable[[], object]) -> Act:
    """Do something in a process of its own session that has no parent."""

    def start(_: Request) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                act()
            os._exit(0)
        os.wait()

    return start


def _late_hello() -> None:
    time.sleep(0.05)
    write(b"hello\n")


def _deaf(*_: object) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    sleep()


def _spin(_: Request) -> None:
    while True:
        pass


def _grow(_: Request) -> None:
    held = []
    while True:
        held.append(bytes(1 << 24).replace(b"\0", b"x"))
        time.sleep(0.01)


def _start_many(_: Request) -> None:
    for _number in range(100):
        if os.fork() == 0:
            sleep()


def _orphan(_: Request) -> None:
    subprocess.Popen(["sleep", "3600"])


def _close_all(_: Request) -> None:
    os.closerange(0, 256)
    sleep()


_SILENT = "no answer within"

PROCESSES: dict[str, Misbehaviour] = {
    "removes its case's folder": Misbehaviour(_remove_case, PASS),
    "removes its scratch folder": Misbehaviour(then(_remove_scratch, ok)),
    "removes its scratch folder afterwards": Misbehaviour(after(_remove_scratch), PASS_OR_ERROR),
    "moves its scratch folder": Misbehaviour(then(_move_scratch, ok)),
    "links its scratch folder": Misbehaviour(then(_link_scratch, rejected), FAIL),
    "closes its scratch folder": Misbehaviour(before(_close_scratch), ANY),
    "removes the files of the others": Misbehaviour(before(_empty_others), PASS),
    "changes the files of the others": Misbehaviour(before(_change_others), PASS),
    "fills its scratch folder": Misbehaviour(before(_fill), PASS),
    "deepens its scratch folder": Misbehaviour(before(_deepen), PASS),
    "removes the results": Misbehaviour(before(_remove_results), PASS),
    "removes the results and fails": Misbehaviour(
        then(_remove_results, changed(lambda held: dict(list(held.items())[:-1]))), FAIL
    ),
    "takes the place of the report": Misbehaviour(before(_take_the_report), PASS),
    "removes its outputs afterwards": Misbehaviour(after(lambda it: target(it).unlink(missing_ok=True)), PASS_OR_ERROR),
    "ends with 0": Misbehaviour(end(0), FAIL),
    "ends with 3": Misbehaviour(end(3), FAIL, "the backend process ended with code 3"),
    "answers and ends": Misbehaviour(after(end(0)), PASS),
    "answers and ends with 3": Misbehaviour(after(end(3)), PASS),
    "aborts": Misbehaviour(lambda _: os.abort(), FAIL),
    "kills itself": Misbehaviour(hurt(signal.SIGKILL, os.getpid), FAIL),
    "stops itself": Misbehaviour(hurt(signal.SIGSTOP, os.getpid), FAIL, _SILENT),
    "kills its supervisor": Misbehaviour(hurt(signal.SIGKILL, os.getppid), FAIL),
    "stops its supervisor": Misbehaviour(hurt(signal.SIGSTOP, os.getppid), FAIL, _SILENT),
    "kills its group": Misbehaviour(lambda _: os.killpg(0, signal.SIGKILL), FAIL),
    "sleeps": Misbehaviour(sleep, FAIL, _SILENT),
    "is deaf": Misbehaviour(_deaf, FAIL, _SILENT),
    "spins": Misbehaviour(_spin, FAIL, _SILENT),
    "takes all memory": Misbehaviour(_grow, FAIL, "it took more than 0.5 GiB of memory"),
    "closes its standard output": Misbehaviour(then(lambda _: os.close(1), sleep), FAIL),
    "closes its standard input": Misbehaviour(before(lambda _: os.close(0)), ("pass", "fail")),
    "closes everything": Misbehaviour(_close_all, FAIL),
    "leaves a child and ends with 4": Misbehaviour(
        then(_orphan, end(4)), FAIL, "the backend process ended with code 4"
    ),
    "leaves a daemon": Misbehaviour(before(_daemon(sleep)), PASS),
    "leaves a daemon and ends": Misbehaviour(then(_daemon(sleep), end(0)), FAIL),
    "leaves a daemon that is deaf": Misbehaviour(before(_daemon(_deaf)), PASS),
    "leaves a hundred children": Misbehaviour(before(_start_many), PASS),
    "leaves a child that talks": Misbehaviour(after(_daemon(_late_hello)), PASS_OR_ERROR),
}
