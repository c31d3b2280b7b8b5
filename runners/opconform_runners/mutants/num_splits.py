"""Mutants that read, check or use `num_splits` wrongly."""

from opconform.case import Attribute
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import Call, Kernel, refuse
from opconform_runners.mutants.lengths import low_bits


@mutant("onnx/onnx#5766")
class LastShorter(Kernel):
    """A number that does not divide the dimension makes the last piece shorter."""

    def check_divides(self, count: int, size: int) -> None:
        pass

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        longest = -(-size // count)
        sizes = super().even_sizes(call, count, size)
        return sizes if size % count == 0 else [*([longest] * (count - 1)), max(size - longest * (count - 1), 0)]


@mutant("onnx/onnx#5766")
class FirstLonger(Kernel):
    """A number that does not divide the dimension makes the first pieces longer."""

    def check_divides(self, count: int, size: int) -> None:
        pass

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        return [size // count + (place < size % count) for place in range(count)]


@mutant("pytorch/TensorRT#401")
class TailLost(Kernel):
    """A number that does not divide the dimension loses what is over."""

    def check_divides(self, count: int, size: int) -> None:
        pass


@mutant("pytorch/TensorRT#401")
class HalvesUnchecked(Kernel):
    """Whether the dimension can be divided is not checked for two pieces."""

    def check_divides(self, count: int, size: int) -> None:
        if count != 2:  # noqa: PLR2004 - two pieces
            super().check_divides(count, size)


@mutant("pytorch/TensorRT#401")
class PiecesWhoseLengthIsTwo(Kernel):
    """Whether the dimension can be divided is checked only for pieces of one element."""

    def check_divides(self, count: int, size: int) -> None:
        if size // count < 2:  # noqa: PLR2004 - one element
            super().check_divides(count, size)


@mutant("pytorch/TensorRT#401")
class CountTakenForSize(Kernel):
    """The number of pieces is taken for their size."""

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        return [count] * (size // count)


@mutant("tinygrad/tinygrad#3490")
class SizeFromTheFirstDimension(Kernel):
    """The size of the pieces is computed from the first dimension."""

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        return [int(call.data.shape[0]) // count] * count


@mutant("haydnv/tinychain#63")
class OnlySingleElements(Kernel):
    """Only pieces of one element are possible."""

    def check_divides(self, count: int, size: int) -> None:
        super().check_divides(count, size)
        if count != size:
            refuse("num_splits is not the dimension")


@mutant("haydnv/tinychain#63")
class NoSingleElements(Kernel):
    """Pieces of one element are refused."""

    def check_divides(self, count: int, size: int) -> None:
        super().check_divides(count, size)
        if count == size > 1:
            refuse("num_splits is the dimension")


@mutant("apple/coremltools#1043")
class OnePieceRefused(Kernel):
    """One piece is refused: two are the fewest."""

    def check_positive(self, count: int) -> None:
        super().check_positive(count)
        if count == 1:
            refuse("there is one piece")


@mutant("pytorch/pytorch#6759")
class ZeroIsOne(Kernel):
    """No pieces are one piece."""

    def num_splits_value(self, given: int) -> int:
        return given or 1


@mutant("pytorch/pytorch#69270")
class NegativeIsOne(Kernel):
    """A negative number of pieces is one piece."""

    def num_splits_value(self, given: int) -> int:
        return 1 if given < 0 else given


@mutant("pytorch/pytorch#69270")
class SignLost(Kernel):
    """A negative number of pieces is read without its sign."""

    def num_splits_value(self, given: int) -> int:
        return abs(given)


@mutant("onnx/onnx#5766")
class MorePiecesThanElements(Kernel):
    """More pieces than the dimension has elements are accepted, and the last ones are empty."""

    def check_at_most_dimension(self, count: int, size: int) -> None:
        pass

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        return super().even_sizes(call, count, size) if count <= size else [1] * size + [0] * min(count - size, 64)


@mutant("onnx/onnx#5766")
class OneMoreThanElements(Kernel):
    """One piece more than the dimension has elements is accepted."""

    def check_at_most_dimension(self, count: int, size: int) -> None:
        if count > size + 1:
            super().check_at_most_dimension(count, size)


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low32Bits(Kernel):
    """The number is cut to 32 bits."""

    def num_splits_value(self, given: int) -> int:
        return low_bits(given, 32)


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low16Bits(Kernel):
    """The number is cut to 16 bits."""

    def num_splits_value(self, given: int) -> int:
        return low_bits(given, 16)


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low8Bits(Kernel):
    """The number is cut to 8 bits."""

    def num_splits_value(self, given: int) -> int:
        return low_bits(given, 8)


@mutant(FOUND)
class FractionCut(Kernel):
    """A number with a fraction loses the fraction."""

    def no_integer(self, given: Attribute) -> int:
        return int(given) if isinstance(given, float) else super().no_integer(given)


@mutant(FOUND)
class WholeFloatAccepted(Kernel):
    """A whole number that is written as a floating-point one is accepted."""

    def no_integer(self, given: Attribute) -> int:
        return int(given) if isinstance(given, float) and given == int(given) else super().no_integer(given)


@mutant(FOUND)
class BooleanAccepted(Kernel):
    """A boolean is a number."""

    def no_integer(self, given: Attribute) -> int:
        return int(given) if isinstance(given, bool) else super().no_integer(given)


@mutant(FOUND)
class TextIsOne(Kernel):
    """A text that is no number is one piece."""

    def no_integer(self, given: Attribute) -> int:
        return 1 if isinstance(given, str) and given else super().no_integer(given)


@mutant(FOUND)
class EmptyTextIsOne(Kernel):
    """An empty text is one piece."""

    def no_integer(self, given: Attribute) -> int:
        return 1 if given == "" else super().no_integer(given)


@mutant("blue-oil/blueoil#1113")
class MissingIsOne(Kernel):
    """A number that is left out is 1."""

    def missing_num_splits(self, call: Call) -> int:
        return 1


@mutant("microsoft/onnxruntime#18358")
class MissingIsTwo(Kernel):
    """A number that is left out is 2."""

    def missing_num_splits(self, call: Call) -> int:
        return 2


@mutant("tensorflow/tfjs-core#1759", "interpretation")
class ZeroDimensionAccepted(Kernel):
    """A dimension of 0 is split into pieces of 0."""

    def check_zero_dimension(self, size: int) -> None:
        pass

    def check_at_most_dimension(self, count: int, size: int) -> None:
        if size:
            super().check_at_most_dimension(count, size)


@mutant("pytorch/TensorRT#401")
class SizeOfTheDimensionOfItsNumber(Kernel):
    """The i-th piece has the size data.shape[i] / num_splits, as the page's formula has it to the letter."""

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        shape = call.data.shape
        return [shape[place] // count if place < len(shape) else size // count for place in range(count)]


@mutant("apple/coremltools#1043")
class OnePieceOfSeveralRefused(Kernel):
    """One piece of a dimension that has several elements is refused."""

    def check_divides(self, count: int, size: int) -> None:
        super().check_divides(count, size)
        if count == 1 < size:
            refuse("nothing is split")
