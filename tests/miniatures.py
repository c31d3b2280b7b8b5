"""Small deterministic backends, each right but for what its name says. `--backend tests/miniatures.py:NAME`."""

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np

from opconform.suite.declarations import DeclaredCase
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.numpy.backend import Numpy


class Perfect:
    """Does everything right."""

    def __init__(self) -> None:
        self._right = Numpy()

    def describe(self) -> Implementation:
        """What numpy says."""
        return self._right.describe()

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """What numpy gives."""
        return self._right.run(case, model, list(feeds))


def _changed(outputs: Sequence[Outputs], change: Callable[[Tensor], Tensor]) -> Sequence[Outputs]:
    return [[change(tensor) for tensor in feed] for feed in outputs]


class MapsTheRemainder(Perfect):
    """Says that it works out itself what -1 stands for."""

    def describe(self) -> Implementation:
        """What numpy says, and a mapped requirement."""
        return replace(super().describe(), mapped=("VariadicSplit-1:lengths.remainder",))


class LosesNegativeZero(Perfect):
    """Turns -0.0 into 0.0."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for the sign of zero."""
        return _changed(
            super().run(case, model, feeds),
            lambda x: Tensor(
                element_type=x.element_type, array=np.where(x.array == 0, np.zeros_like(x.array), x.array)
            ),
        )


class LosesAType(Perfect):
    """Supports no f16, and says so for each case."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right for other types."""
        if any(input_.element_type == "f16" for input_ in case.inputs):
            raise Unsupported("f16 has no kernel")
        return super().run(case, model, feeds)


class LosesAll(Perfect):
    """Turns every element into zero."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right in shape and type."""
        return _changed(
            super().run(case, model, feeds),
            lambda x: Tensor(element_type=x.element_type, array=np.zeros_like(x.array)),
        )


class QuietsNans(Perfect):
    """Changes the payload of every NaN, and nothing else."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for NaNs."""
        return _changed(
            super().run(case, model, feeds),
            lambda x: Tensor(element_type=x.element_type, array=self._quieted(x.array)),
        )

    def _quieted(self, array: Array) -> Array:
        return np.where(np.isnan(array), array.dtype.type("nan"), array) if array.dtype.kind == "f" else array


class KeepsEightBits(Perfect):
    """Rounds its outputs to bf16, and gives them as f32."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Less accurate than f32."""
        return _changed(
            super().run(case, model, feeds),
            lambda x: Tensor(
                element_type=x.element_type, array=x.array.astype(ml_dtypes.bfloat16).astype(x.array.dtype)
            ),
        )


class ChecksTheFirstFeedAlone(Perfect):
    """Takes the lengths of a later feed as they are."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right for the first feed; then what lies at the lengths, be there too much or too little."""
        outputs = [*super().run(case, model, feeds[:1])]
        for feed in feeds[1:]:
            data, [axis], lengths = feed["data"], feed["axis"].integers(), feed["split_lengths"].integers()
            starts = np.cumsum([0, *lengths[:-1]])
            places = [np.arange(start, start + size) for start, size in zip(starts, lengths, strict=True)]
            arrays = [data.array.take(place, axis=axis, mode="clip") for place in places]
            outputs.append([Tensor(element_type=data.element_type, array=array) for array in arrays])
        return outputs


class RefusesEverything(Perfect):
    """Refuses every case."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002
        """Nothing."""
        raise Rejected("build", "no")


class AcceptsEverything(Perfect):
    """Returns data where it should refuse."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or data."""
        try:
            return super().run(case, model, feeds)
        except Rejected:
            return [[feed["data"]] for feed in feeds]


class RefusesForAnotherReason(Perfect):
    """Says that the axis is wrong, whatever is."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or a refusal for the axis at run time."""
        try:
            return super().run(case, model, feeds)
        except Rejected as answer:
            raise Rejected("run", answer.message, "axis.range") from answer


class MissesOneOutput(Perfect):
    """Leaves the last output out."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for the last output."""
        return [x[:-1] for x in super().run(case, model, feeds)]


class AddsADimension(Perfect):
    """Returns each output with one dimension more."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for the shape."""
        return _changed(
            super().run(case, model, feeds),
            lambda x: Tensor(element_type=x.element_type, array=x.array[..., np.newaxis]),
        )


class WidensFloats(Perfect):
    """Returns f64 for f32."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for the element type."""
        return _changed(
            super().run(case, model, feeds),
            lambda x: Tensor(element_type="f64", array=x.array.astype(np.float64)),
        )


class CallsItF16(Perfect):
    """Returns the right bits of bf16 and says that they are u16."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for the element type's name."""
        return _changed(super().run(case, model, feeds), lambda x: Tensor(element_type="u16", array=x.array))


class Aborts(Perfect):
    """Dies of a signal on the lengths [2, 2, 2]."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or death."""
        if feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            sys.stderr.write("about to fall over\n")
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().run(case, model, feeds)


class Leaks(Perfect):
    """Takes ever more memory on the lengths [2, 2, 2], until it is killed."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or greed."""
        taken = []
        while feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            taken.append(np.ones(64 << 20, np.uint8))
            time.sleep(0.02)
        return super().run(case, model, feeds)


class Forks(Perfect):
    """Leaves eight children to the lengths [2, 2, 2], which share 256 MiB with it."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, while they sleep for longer than memory is looked at twice."""
        if feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            shared = np.ones(256 << 20, np.uint8)
            for _ in range(8):
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(int(shared[0]))
            time.sleep(1)
        return super().run(case, model, feeds)


class Hangs(Perfect):
    """Never comes back from the lengths [2, 2, 2]."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or silence."""
        while feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            time.sleep(3600)
        return super().run(case, model, feeds)


#: What no format may take for anything but text.
HOSTILE = (
    "=1+1 \x00\x1b[31m]]>&amp;<b onload=x>\ufffe\u202e\r\n::error title=x::injected\n| `a` | @everyone *b* _c_ #1 "
    "<!-- 100% --> https://example.org, end"
)


class IsHostile(Perfect):
    """Refuses the lengths [2, 2, 2] with a message that is made to be taken for something else, and has such a name."""

    def describe(self) -> Implementation:
        """A name with everything in it."""
        return replace(super().describe(), name=HOSTILE, version="@1")

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or a hostile refusal."""
        if feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            raise Rejected("build", HOSTILE)
        return super().run(case, model, feeds)


class Raises(Perfect):
    """Fails with an exception of its own on the lengths [2, 2, 2]."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or a KeyError."""
        if feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            raise KeyError("lost")
        return super().run(case, model, feeds)


class Chats(Perfect):
    """Prints to standard output by every way there is, and floods standard error."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, loudly."""
        print("hello", flush=True)
        os.write(1, b"from below\n" * 20_000)
        sys.stderr.write("x" * 200_000)
        return super().run(case, model, feeds)


class ReturnsNothing(Perfect):
    """Accepts every case, and gives no output."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002
        """Feeds without outputs."""
        return [[] for _ in feeds]


class RefusesInOtherWords(Perfect):
    """Refuses every case, each time with another message."""

    words = itertools.permutations(("not", "this", "one", "either", "today"))

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002
        """Nothing."""
        raise Rejected("build", " ".join(next(self.words)))


class FailsEveryTime(Perfect):
    """Has an error of its own, whatever it is given."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002
        """A KeyError."""
        raise KeyError("lost")


class SupportsNothing(Perfect):
    """Says that it supports nothing, although it declares everything."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002
        """Nothing."""
        raise Unsupported("not today")


class SupportsSome(Perfect):
    """Says of the lengths [2, 2, 2] that it does not do this, having declared nothing of the kind."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or nothing."""
        if feeds[0]["split_lengths"].integers() == [2, 2, 2]:
            raise Unsupported("not today")
        return super().run(case, model, feeds)


class DeclaresNothing(Perfect):
    """Declares no element type, and does everything right."""

    def describe(self) -> Implementation:
        """An empty list of element types."""
        return Implementation(
            name="modest",
            version="1",
            element_types=(),
            operations=("VariadicSplit-1",),
            dynamic=True,
            bindings=("constant", "parameter"),
        )


class FailsUndeclared(LosesAll):
    """Declares no element type, and loses everything."""

    def describe(self) -> Implementation:
        """An empty list of element types."""
        return DeclaresNothing().describe()


class AbortsUndeclared(Aborts):
    """Declares no element type, and dies of a signal on the lengths [2, 2, 2]."""

    def describe(self) -> Implementation:
        """An empty list of element types."""
        return DeclaresNothing().describe()


class TakesConstantsOnly(Perfect):
    """Declares that axis and lengths must be constants."""

    def describe(self) -> Implementation:
        """No run-time axis or lengths."""
        return replace(super().describe(), bindings=("constant",))


class RightTheSecondTime(Perfect):
    """Returns zeros for [2, 2, 2] in the first process, and the right thing in every later one."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or zeros."""
        outputs = super().run(case, model, feeds)
        mark = Path(os.environ["OPCONFORM_TEST_MARK"])
        if feeds[0]["split_lengths"].integers() != [2, 2, 2] or mark.exists():
            return outputs
        mark.touch()
        return _changed(outputs, lambda x: Tensor(element_type=x.element_type, array=np.zeros_like(x.array)))


class ReturnsRubbish(Perfect):
    """Returns a list where a tensor is needed."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002
        """A list."""
        return [[[1, 2, 3]] for _ in feeds]  # type: ignore[list-item]


class DropsBehind(Perfect):
    """A compiler that takes `Add-1` behind another operation for the operation alone."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right where a sum takes no result of another node."""
        computed = {name: name for node in case.graph.nodes for name in node.outputs}
        dropped = {
            node.outputs[0]: str(node.inputs[0])
            for node in case.graph.nodes
            if node.op == "Add-1" and node.inputs[0] in computed
        }
        nodes = tuple(
            replace(node, inputs=tuple(dropped.get(str(name), name) for name in node.inputs))
            for node in case.graph.nodes
        )
        outputs = tuple(dropped.get(name, name) for name in case.graph.outputs)
        return super().run(replace(case, graph=replace(case.graph, nodes=nodes, outputs=outputs)), model, feeds)


class AddsWithoutSigns(Perfect):
    """Adds the absolute values in `Add-1`, wherever it stands."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right for other operations, and for sums that are not negative."""
        sums = {node.outputs[0] for node in case.graph.nodes if node.op == "Add-1"}
        wrong = [name in sums for name in case.graph.outputs]
        return [
            [replace(x, array=abs(x.array)) if is_sum else x for x, is_sum in zip(feed, wrong, strict=True)]
            for feed in super().run(case, model, feeds)
        ]


class KeepsLowBits(Perfect):
    """Takes the low 8 bits, with a sign, of numbers that it is given in f32."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """What a conversion to i8 gives by another reading, and what follows from it."""
        wrapped = [
            {
                name: replace(x, array=(x.array + 128) % 256 - 128) if x.element_type == "f32" else x
                for name, x in feed.items()
            }
            for feed in feeds
        ]
        return super().run(case, model, wrapped)


class LosesJoins(Perfect):
    """Turns what Concat-1 gives into zeros."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right but for the outputs of a join."""
        joined = {name for node in case.graph.nodes if node.op == "Concat-1" for name in node.outputs}
        return [
            [
                Tensor(element_type=tensor.element_type, array=np.zeros_like(tensor.array))
                if name in joined
                else tensor
                for name, tensor in zip(case.graph.outputs, feed, strict=True)
            ]
            for feed in super().run(case, model, feeds)
        ]


class LosesSplits(Perfect):
    """Turns the outputs of a graph with VariadicSplit-1 into zeros."""

    op = "VariadicSplit-1"

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right for a graph of other operations."""
        outputs = super().run(case, model, feeds)
        if not any(node.op == self.op for node in case.graph.nodes):
            return outputs
        return _changed(outputs, lambda x: Tensor(element_type=x.element_type, array=np.zeros_like(x.array)))


class LosesShapes(LosesSplits):
    """Turns the outputs of a graph with ShapeOf-3 into zeros."""

    op = "ShapeOf-3"


class SplitsOnly(Perfect):
    """Declares two operations."""

    def describe(self) -> Implementation:
        """What numpy says, but for the others."""
        return replace(super().describe(), name="splits", version="1", operations=("Split-1", "VariadicSplit-1"))


class EndsLater(Perfect):
    """Answers its first case rightly, and ends its process before it answers the second one: a delayed failure."""

    def __init__(self) -> None:
        super().__init__()
        self._has_answered = False

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """Right, or the end."""
        if self._has_answered:
            self.end()
        self._has_answered = True
        return super().run(case, model, feeds)

    def end(self) -> None:
        """A crash."""
        os.kill(os.getpid(), signal.SIGSEGV)


class StopsLater(EndsLater):
    """The second case of a process hangs."""

    def end(self) -> None:
        """A stop."""
        os.kill(os.getpid(), signal.SIGSTOP)


class ExitsLater(EndsLater):
    """The process exits at its second case."""

    def end(self) -> None:
        """An exit."""
        os._exit(3)


class KillsItsSupervisorLater(EndsLater):
    """The process kills its parent at its second case."""

    def end(self) -> None:
        """The death of the parent."""
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


class RaisesLater(EndsLater):
    """The second case of a process ends in an exception."""

    def end(self) -> None:
        """An exception."""
        raise KeyError("lost")
