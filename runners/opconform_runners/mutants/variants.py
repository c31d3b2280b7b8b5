"""Right variants: independent implementations that every suite must let pass, or it is the suite that is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Backend, Implementation, Inputs, Outputs, Rejected
from opconform_runners.backends.numpy import Numpy
from opconform_runners.mutants.kernel import Kernel


class _Variant:
    """What the variants share: they say that they can do everything, and build the contexts from their own pieces."""

    def describe(self) -> Implementation:
        """What it is and can do: everything."""
        return Implementation(
            name=type(self).__name__.lower(),
            version="1",
            element_types=tuple(ELEMENT_TYPES),
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=True,
            bindings=("constant", "parameter"),
            contexts=("bare", "folded", "concat", "chain", "partial", "shared"),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:
        """The outputs of each feed."""
        return [
            [Tensor(element_type=feed["data"].element_type, array=each) for each in self._graph(case, feed)]
            for feed in feeds
        ]

    def pieces(self, data: Array, case: Case, feed: Inputs) -> list[Array]:
        """The outputs of the operation."""
        raise NotImplementedError

    def _graph(self, case: Case, feed: Inputs) -> list[Array]:
        if "data" not in feed:
            raise Rejected("build", "no data")
        data = feed["data"].array
        own = self.pieces(data, case, feed)
        if case.context == "chain":
            return own[:-1] + self.pieces(own[-1], case, feed)
        if case.context == "partial":
            return [each for number, each in enumerate(own) if number % 2]
        if case.context == "concat":
            along = feed["axis"].integers()[0]
            return [np.concatenate(own, along)]
        if case.context == "shared":
            along = (feed["axis"].integers()[0] + 1) % data.ndim
            return [*own, np.concatenate([each for each in own if each.shape == own[-1].shape], along)]
        return own


def _require(holds: object) -> None:
    if not holds:
        raise Rejected("run", "the case is wrong")


class Bytes(_Variant):
    """Copies runs of elements one after the other through a flat array, with strides that it computes itself."""

    def pieces(self, data: Array, case: Case, feed: Inputs) -> list[Array]:
        """The outputs of the operation."""
        _require(data.ndim > 0 and "axis" in feed)
        axis = feed["axis"]
        _require(axis.type.kind in ("signed", "unsigned"))
        _require(axis.shape == () or (axis.shape == (1,) and case.op != "Split-1"))
        [along] = axis.integers()
        _require(-data.ndim <= along <= data.ndim - 1)
        along += data.ndim * (along < 0)
        stride = 1
        for size in data.shape[along + 1 :]:
            stride *= size
        block = stride * data.shape[along]
        blocks = data.size // block if block else 0
        flat = np.ascontiguousarray(data).reshape(-1)
        outputs, first = [], 0
        for length in self._lengths(data.shape[along], case, feed):
            output = np.empty(blocks * length * stride, data.dtype)
            for number in range(blocks):
                source = number * block + first * stride
                target = number * length * stride
                output[target : target + length * stride] = flat[source : source + length * stride]
            outputs.append(output.reshape(*data.shape[:along], length, *data.shape[along + 1 :]))
            first += length
        return outputs

    def _lengths(self, size: int, case: Case, feed: Inputs) -> list[int]:
        if case.op == "Split-1":
            count = case.attributes.get("num_splits")
            _require(isinstance(count, int) and not isinstance(count, bool) and 0 < count <= size)
            each, over = divmod(size, int(count or 1))
            _require(not over)
            return [each] * int(count or 1)
        _require("split_lengths" in feed)
        given = feed["split_lengths"]
        _require(given.type.kind in ("signed", "unsigned") and given.array.ndim == 1 and given.array.size)
        left, place = size, None
        lengths = given.integers()
        for number, length in enumerate(lengths):
            if length == -1:
                _require(place is None)
                place = number
            else:
                _require(length >= 0)
                left -= length
        _require(left >= 0 if place is not None else left == 0)
        if place is not None:
            lengths[place] = left
        return lengths


class Gather(_Variant):
    """Gathers the elements of each output by their indices."""

    def pieces(self, data: Array, case: Case, feed: Inputs) -> list[Array]:
        """The outputs of the operation."""
        axes = list(range(data.ndim)) + list(range(-data.ndim, 0))
        given = feed.get("axis")
        _require(given is not None)
        shapes = {(), (1,)} if case.op == "VariadicSplit-1" else {()}
        _require(given and given.type.is_integer and given.shape in shapes and given.integers()[0] in axes)
        along = given.integers()[0] if given else 0
        bounds = list(self._bounds(data.shape[along], case, feed))
        if not data.size:
            return [
                np.empty((*data.shape[:along], end - start, *data.shape[along:][1:]), data.dtype)
                for start, end in bounds
            ]
        return [np.take(data, np.arange(*each), along) for each in bounds]

    def _bounds(self, size: int, case: Case, feed: Inputs) -> Iterator[tuple[int, int]]:
        if case.op == "Split-1":
            count = case.attributes.get("num_splits")
            _require(type(count) is int and count >= 1 and size > 0 and size % count == 0)
            step = size // int(count or 1)
            yield from ((start, start + step) for start in range(0, size, step))
            return
        given = feed.get("split_lengths")
        _require(given is not None and given.type.is_integer and len(given.shape) == 1 and given.shape[0] > 0)
        lengths = given.integers() if given else []
        _require(min(lengths) >= -1 and sum(each == -1 for each in lengths) < 2)  # noqa: PLR2004 - one at the most
        rest = size - sum(each for each in lengths if each > 0)
        _require(rest >= 0 and (-1 in lengths or rest == 0))
        start = 0
        for each in lengths:
            end = start + (rest if each < 0 else each)
            yield start, end
            start = end


class Peel(_Variant):
    """Takes one output after the other off the end of data, which gets shorter."""

    def pieces(self, data: Array, case: Case, feed: Inputs) -> list[Array]:
        """The outputs of the operation."""
        axis = feed.get("axis")
        _require(axis is not None and axis.type.is_integer and data.ndim)
        _require(axis is not None and axis.array.ndim <= (case.op != "Split-1") and axis.array.size == 1)
        along = axis.integers()[0] if axis else 0
        _require(along in range(-data.ndim, data.ndim))
        rest = np.moveaxis(data, along, 0)
        lengths = self._asked(len(rest), case, feed)
        known = [each for each in lengths if each != -1]
        _require(all(each >= 0 for each in known) and len(lengths) - len(known) <= 1)
        _require(sum(known) == len(rest) or (sum(known) < len(rest) and -1 in lengths))
        outputs = []
        while lengths:
            last = lengths.pop()
            length = len(rest) - sum(lengths) if last == -1 else last
            cut = len(rest) - length
            outputs.append(np.ascontiguousarray(np.moveaxis(rest[cut:], 0, along)))
            rest = rest[:cut]
        return outputs[::-1]

    def _asked(self, size: int, case: Case, feed: Inputs) -> list[int]:
        if case.op == "Split-1":
            count = case.attributes.get("num_splits", 0)
            _require(isinstance(count, int) and count is not True and count is not False)
            number = int(count)
            _require(0 < number <= size and size // number * number == size)
            return [size // number] * number
        given = feed.get("split_lengths")
        _require(given is not None and given.type.is_integer and given.array.ndim == 1)
        lengths = given.integers() if given else []
        _require(lengths)
        return lengths


#: The right variants by name.
VARIANTS: Mapping[str, type[Backend]] = MappingProxyType(
    {"right/numpy": Numpy, "right/kernel": Kernel, "right/bytes": Bytes, "right/gather": Gather, "right/peel": Peel}
)
