"""Mutants that never come back."""

import time
from typing import NoReturn

from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import Call, Kernel


def wait_for_ever() -> NoReturn:
    """Do nothing, without an end."""
    while True:
        time.sleep(60.0)


@mutant("pytorch/pytorch#6759")
class OnNoPieces(Kernel):
    """A number of pieces of 0 is subtracted until nothing is left."""

    def num_splits_value(self, given: int) -> int:
        return given or wait_for_ever()


@mutant("pytorch/pytorch#6759")
class OnTwoRemainders(Kernel):
    """Two -1 are resolved by each other, in turn."""

    def check_single(self, lengths: list[int]) -> None:
        if lengths == [-1, 2, -1]:
            wait_for_ever()
        super().check_single(lengths)


@mutant("pytorch/pytorch#6759")
class OnHugeCounts(Kernel):
    """As many pieces as 63 bits can count are made one by one."""

    def check_at_most_dimension(self, count: int, size: int) -> None:
        if count > 2**62:
            wait_for_ever()
        super().check_at_most_dimension(count, size)


@mutant("PaddlePaddle/Paddle#34356")
class OnNoElements(Kernel):
    """Data without elements is copied until something was copied."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if size and not call.data.size and lengths == [1, 2, 3]:
            wait_for_ever()
        super().check_sum(call, lengths, size)


@mutant("pytorch/pytorch#6759")
class OnTwoZerosFirst(Kernel):
    """Two lengths of 0 at the beginning are subtracted until something is left."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        super().check_sum(call, lengths, size)
        if lengths == [0, 0, size] and not self.axis(call):
            wait_for_ever()
