"""Mutants that resolve a length of -1 wrongly."""

from itertools import accumulate, pairwise
from math import prod

from opconform.element_types import ELEMENT_TYPES
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import REMAINDER, Call, Kernel, refuse
from opconform_runners.mutants.lengths import low_bits


@mutant("NervanaSystems/ngraph-tf#344")
class RefusedFirst(Kernel):
    """A -1 is not found where it stands first."""

    def check_single(self, lengths: list[int]) -> None:
        super().check_single(lengths)
        if lengths[0] == REMAINDER:
            refuse("the lengths are not the dimension")


@mutant("NervanaSystems/ngraph-tf#344")
class OnlyLast(Kernel):
    """A -1 is found only where it stands last."""

    def check_single(self, lengths: list[int]) -> None:
        super().check_single(lengths)
        if REMAINDER in lengths[:-1]:
            refuse("a length is negative")


@mutant("NervanaSystems/ngraph-tf#344")
class OnlyAtTheEnds(Kernel):
    """A -1 is not found where it stands between others."""

    def check_single(self, lengths: list[int]) -> None:
        super().check_single(lengths)
        if REMAINDER in lengths[1:-1]:
            refuse("a length is negative")


@mutant("apple/coremltools#1043")
class RefusedAlone(Kernel):
    """A -1 alone is refused."""

    def check_single(self, lengths: list[int]) -> None:
        super().check_single(lengths)
        if lengths == [REMAINDER]:
            refuse("there is nothing to add up")


@mutant("tensorflow/tensorflow#19360", "interpretation")
class ZeroRefused(Kernel):
    """A -1 that nothing is left for is refused."""

    def check_remainder(self, total: int, size: int) -> None:
        if total >= size > 0:
            refuse("nothing is left for -1")


@mutant("tensorflow/tensorflow#19360", "interpretation")
class ZeroRefusedForNoElements(Kernel):
    """A -1 in a dimension of 0 is refused."""

    def check_remainder(self, total: int, size: int) -> None:
        super().check_remainder(total, size)
        if size == 0:
            refuse("nothing is left for -1")


@mutant("openvinotoolkit/openvino_contrib#492")
class CountedAsLength(Kernel):
    """The -1 itself is added up with the others, so that it takes one too many."""

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return size - sum(lengths)


@mutant("openvinotoolkit/openvino_contrib#492")
class FromTheWholeTensor(Kernel):
    """What is left is computed from the number of data's elements."""

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return prod(call.data.shape) - (size - super().remainder(call, lengths, size))


@mutant("tinygrad/tinygrad#3490")
class FromTheFirstDimension(Kernel):
    """What is left is computed from the first dimension."""

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return super().remainder(call, lengths, int(call.data.shape[0]))


@mutant("openvinotoolkit/openvino_contrib#1093")
class OffsetsBefore(Kernel):
    """The offsets are computed before -1 is replaced."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        if call.even:
            return super().offsets(call, sizes)
        return list(accumulate(self.lengths(call), initial=0))[:-1]


@mutant("openvinotoolkit/openvino_contrib#492")
class Literal(Kernel):
    """A -1 is taken for a length, which gives an output without elements."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        return [max(each, 0) for each in lengths]


@mutant("google-ai-edge/LiteRT#7742")
class UnresolvedAtRunTime(Kernel):
    """A -1 that comes at run time is refused."""

    def check_single(self, lengths: list[int]) -> None:
        super().check_single(lengths)

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        super().check_lengths(call, lengths, size)
        if REMAINDER in lengths and call.comes_at_run_time("split_lengths"):
            refuse("a length is negative")


@mutant("tensorflow/tensorflow#52701")
class TwoShare(Kernel):
    """Two -1 share what is left."""

    def check_single(self, lengths: list[int]) -> None:
        pass

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return super().remainder(call, lengths, size) // lengths.count(REMAINDER)


@mutant("tensorflow/tensorflow#52701")
class TwoNextToEachOtherAccepted(Kernel):
    """Two -1 are refused only where no other length stands between them."""

    def check_single(self, lengths: list[int]) -> None:
        if any(pair == (REMAINDER, REMAINDER) for pair in pairwise(lengths)):
            refuse("there are two -1")


@mutant("tensorflow/tensorflow#52701")
class OthersUnchecked(Kernel):
    """With a -1 the other lengths may be more than the dimension."""

    def check_remainder(self, total: int, size: int) -> None:
        pass


@mutant(FOUND)
class OneOverAccepted(Kernel):
    """With a -1 the other lengths may be one more than the dimension, and -1 is then an output without elements."""

    def check_remainder(self, total: int, size: int) -> None:
        if total > size + 1:
            super().check_remainder(total, size)


@mutant("Tencent/ncnn#112")
class EachOtherChecked(Kernel):
    """With a -1 each other length is checked by itself, and not their sum."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if REMAINDER not in lengths:
            super().check_sum(call, lengths, size)
        elif max(lengths) > size:
            refuse("a length is over the dimension")


@mutant("tensorflow/tensorflow#126126")
class InTheTypeOfTheLengths(Kernel):
    """What is left is computed in the type of the lengths, and wraps."""

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return low_bits(super().remainder(call, lengths, size), ELEMENT_TYPES[self._type(call)].bits)

    def _type(self, call: Call) -> str:
        return call.inputs["split_lengths"].element_type


@mutant("NVIDIA/TensorRT#3466")
class PlacedLast(Kernel):
    """What is left becomes the last output, wherever -1 stands."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        if REMAINDER not in lengths:
            return super().resolved(call, lengths, size)
        others = [each for each in lengths if each != REMAINDER]
        return [*others, self.remainder(call, lengths, size)]


@mutant("tensorflow/tensorflow#21113")
class NeverLongest(Kernel):
    """A -1 takes no more than the longest of the others."""

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return min(super().remainder(call, lengths, size), max(lengths) if len(lengths) > 1 else size)


@mutant("tensorflow/tensorflow#19360")
class ExchangedWithZero(Kernel):
    """Beside a length of 0 what is left goes to the 0, and -1 gets nothing."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        left = super().resolved(call, lengths, size)
        if REMAINDER not in lengths or 0 not in lengths:
            return left
        here, there = lengths.index(REMAINDER), lengths.index(0)
        left[here], left[there] = left[there], left[here]
        return left
