"""Harnesses in this process that read a dialect, take packs, and are wrong in one way. Their clock is a fake one."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from opconform.suite.declarations import DeclaredCase, declared_case_from
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.backends.packs import cases_of_pack
from opconform_runners.execution import request, worker
from opconform_runners.execution.executor import LocalExecutor
from opconform_runners.execution.run import Run
from opconform_runners.execution.runner import judged
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.processes.process import HarnessEnded
from tests.execution.fake_runs import plan_of
from tests.in_process import Served

TIMEOUT = 20.0


@dataclass
class Clock:
    """The time of the fake harnesses, and the executions by name of the case or the pack, with the number of nodes."""

    now: float = 0.0
    executed: list[tuple[str, int]] = field(default_factory=list)
    started: int = 0

    def monotonic(self) -> float:
        """The time."""
        return self.now


class Right:
    """A backend that is right, and takes a hundredth of a second for each node. The others are wrong in one way."""

    packs = 32
    seconds = 0.01

    def describe(self) -> Implementation:
        """What numpy says, with a dialect and packs."""
        return replace(Numpy().describe(), name="fake", dialects=("openvino",), packs=self.packs)

    def run(self, case: DeclaredCase, _model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """What numpy gives."""
        return Numpy().run(case, None, list(feeds))

    def before(self, executed: Sequence[DeclaredCase]) -> None:
        """End the process or hang, given the cases that the process executed, with the present one."""


class Direct(Right):
    """A backend without a dialect, which executes the cases of a pack one by one and refuses some by their names."""

    def describe(self) -> Implementation:
        """What numpy says, with packs."""
        return replace(super().describe(), dialects=())

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """What numpy gives for each case, except those that split in 5 or 7."""
        assert model is None
        outputs: list[list[Tensor]] = [[] for _ in feeds]
        members = cases_of_pack(case)
        if refused := [prefix for prefix, member in members.items() if member.node.attributes["num_splits"] in (5, 7)]:
            raise Unsupported(f"not executed: {', '.join(refused)}")
        for prefix, member in members.items():
            own = [{x.name: feed[f"{prefix}{x.name}"] for x in member.inputs} for feed in feeds]
            for of_feed, of_member in zip(outputs, Numpy().run(member, None, own), strict=True):
                of_feed.extend(of_member)
        return outputs


def nodes(case: DeclaredCase) -> int:
    """How many nodes are under test."""
    return sum(node.under_test for node in case.graph.nodes)


def has_odd(case: DeclaredCase, count: int = 5) -> bool:
    """Whether one of the nodes has an odd attribute: the f32 case that is split in so many."""
    return any(node.attributes.get("num_splits") == count for node in case.graph.nodes) and any(
        x.element_type == "f32" and x.shape == (2, 2 * count) for x in case.inputs
    )


def zeros(outputs: Sequence[Outputs]) -> Sequence[Outputs]:
    """Outputs without their values."""
    return [[Tensor(element_type=x.element_type, array=np.zeros_like(x.array)) for x in feed] for feed in outputs]


class FailsAlone(Right):
    """Wrong on a model of one node."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right in packs."""
        right = super().run(case, model, feeds)
        return zeros(right) if nodes(case) == 1 else right


class Mixes(Right):
    """Mixes up the first outputs of two nodes."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right alone."""
        right = super().run(case, model, feeds)
        if nodes(case) == 1:
            return right
        ends = np.cumsum([len(node.outputs) for node in case.graph.nodes])
        first, second = 0, int(ends[0])
        return [[feed[second], *feed[1:second], feed[first], *feed[second + 1 :]] for feed in right]


class Crashes(Right):
    """Ends the process at one case."""

    def before(self, executed: Sequence[DeclaredCase]) -> None:
        """End it, in a pack as well."""
        if has_odd(executed[-1]):
            raise HarnessEnded("was terminated by SIGSEGV", -11)


class CrashesOften(Right):
    """Ends the process at every f32 case that is split in an even number of parts."""

    def before(self, executed: Sequence[DeclaredCase]) -> None:
        """End it, in a pack as well."""
        if any(has_odd(executed[-1], count) for count in (2, 4, 6, 8)):
            raise HarnessEnded("was terminated by SIGSEGV", -11)


class Hangs(Right):
    """Hangs at one case."""

    def before(self, executed: Sequence[DeclaredCase]) -> None:
        """Hang, in a pack as well."""
        if has_odd(executed[-1]):
            raise TimeoutError


class Slow(Right):
    """Takes six seconds for each node."""

    seconds = 6.0


class WritesPastItsOutput(Right):
    """Damages its process at one case, which ends at the second request after it."""

    def before(self, executed: Sequence[DeclaredCase]) -> None:
        """End it late."""
        if any(has_odd(before) for before in executed[:-2]):
            raise HarnessEnded("was terminated by SIGABRT", -6)


class OtherOrder(Right):
    """Returns outputs in the alphabetical order of their names."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right for ten cases and ten outputs."""
        right = super().run(case, model, feeds)
        order = sorted(range(len(case.graph.outputs)), key=lambda number: case.graph.outputs[number])
        return [[feed[number] for number in order] for feed in right]


class RefusesATwin(Right):
    """Refuses one case, and names its node."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right for all others."""
        for node in case.graph.nodes:
            if node.attributes.get("num_splits") == 7:
                raise Rejected("build", f"node {node.name} is refused")
        return super().run(case, model, feeds)


class Harness(Served):
    """A harness in this process whose backend may end it."""

    def __init__(self, backend: Right, clock: Clock) -> None:
        with mock.patch("tests.in_process.load", return_value=backend):
            super().__init__("fake")
        self._faulty, self._clock, self._earlier = backend, clock, list[DeclaredCase]()
        clock.started += 1

    async def receive(self, within: float) -> bytes:
        """The reply to the oldest request, unless the process ends or hangs."""
        case = declared_case_from(json.loads(self._requests[0])["case"])
        self._clock.executed.append((case.id, nodes(case)))
        spent = self._faulty.seconds * nodes(case)
        try:
            self._faulty.before([*self._earlier, case])
        except TimeoutError:
            spent = within
        self._clock.now += min(spent, within)
        if spent >= within:
            raise TimeoutError
        self._earlier.append(case)
        reply = json.loads(await super().receive(within))
        reply.pop("seconds", None)  # they are not those of the fake clock
        return json.dumps(reply).encode()


@contextlib.contextmanager
def faulty(backend: Right, clock: Clock) -> Iterator[None]:
    """Let runs execute cases on a backend in this process."""

    async def connect(_: Command) -> Any:
        return Harness(backend, clock)

    with (
        mock.patch.object(worker, "connect", connect),
        mock.patch.object(worker, "time", clock),
        mock.patch.object(request, "time", clock),
        mock.patch.object(worker, "is_full", return_value=False),
    ):
        yield


def run_on(backend: Right, suite: Suite, out: Path, *, alone: bool = False, **changes: Any) -> tuple[Run, Clock]:
    """A run on a backend, and what it executed."""
    clock = Clock()
    command = Command(arguments=(), name="fake")
    executor = LocalExecutor(suite, Launch(command=command, timeout=TIMEOUT, alone=alone))
    with faulty(backend, clock):
        return judged(suite, suite.entries, executor, plan_of(out, timeout=TIMEOUT, alone=alone, **changes)), clock


def verdicts(run: Run) -> dict[str, tuple[str, str | None]]:
    """The verdict of each case."""
    return {result.id: (result.verdict, result.reason) for result in run.results}
