"""Which facts of one failure separate failing cases from passing ones, two or three together."""

from collections.abc import Iterator, Sequence

import numpy as np

from opconform.tensors.tensor import Array

#: How many pairs of one kind are given.
COMPARED = 60
#: The rows of matrices that are multiplied at once.
_BLOCK = 32


class Pairs:
    """The facts of one failure, in all combinations; fact 0 holds for every case.

    The passing cases that have a fact are one row of bits.
    """

    def __init__(self, fails: Array, passes: Array, weights: Array) -> None:
        self._fails = np.hstack([np.ones((len(fails), 1), np.float32), fails.astype(np.float32)])
        self._weighted = self._fails * weights[:, None]
        self._passes = np.vstack([bits_of(np.ones(len(passes), np.bool_)), bits_of(passes.T)])

    def pure(self) -> Iterator[tuple[float, tuple[int, ...], int]]:
        """Pairs of facts that no passing case has, with the weight of the failures that have them."""
        yield from _largest(product(self._fails, self._weighted) * self._clean(self._passes), -1)

    def alternatives(
        self, number: int, fails: Array, passes: Array, of_seed: Sequence[int]
    ) -> Iterator[tuple[float, tuple[int, ...], int]]:
        """Pairs of facts that no passing case has with any alternative of a group; `of_seed` has the seed's ones."""
        total = np.zeros((len(self._passes),) * 2, np.float32)
        allowed = np.zeros(total.shape, np.bool_)
        for place, bits in enumerate(bits_of(passes.T)):
            clean, rows = self._clean(self._passes & bits), fails[:, place]
            total += product(self._fails[rows], self._weighted[rows]) * clean - clean
            if place in of_seed:
                allowed |= clean
        yield from _largest(total * allowed, number)

    def triples(self) -> Iterator[tuple[float, tuple[int, ...], int]]:
        """For each pair of facts, the third one with which no passing case has them."""
        for first in range(1, len(self._passes)):
            both, fails = self._passes & self._passes[first], self._fails[:, first] > 0
            has_fact, weighted = self._fails[fails], self._weighted[fails]
            for second in np.flatnonzero(both.any(1)).tolist():
                third = (
                    second + 1 + np.flatnonzero(~(both[second + 1 :] & both[second]).any(1)) if second > first else ()
                )
                if len(third):
                    worth = weighted[has_fact[:, second] > 0][:, third].sum(0)
                    best = int(np.argmax(worth))
                    yield float(worth[best]), (first, second, int(third[best])), -1

    def _clean(self, passes: Array) -> Array:
        """Whether no passing case has two facts, the first of them given as other bits."""
        return np.asarray(~(passes[:, None] & self._passes).any(2))


def bits_of(has_fact: Array) -> Array:
    """Rows as bits in words of 64."""
    packed = np.packbits(np.ascontiguousarray(has_fact), axis=-1)
    missing = -packed.shape[-1] % 8
    return np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, missing)]).view(np.uint64)


def product(left: Array, right: Array) -> Array:
    """The product of matrices, in blocks that are too small for threads: those take longer to start."""
    total = np.zeros((left.shape[1], right.shape[1]), np.float32)
    for start in range(0, len(left), _BLOCK):
        total += left[start : start + _BLOCK].T @ right[start : start + _BLOCK]
    return total


def _largest(worth: Array, number: int) -> Iterator[tuple[float, tuple[int, ...], int]]:
    upper = np.triu(worth)
    for place in np.argsort(-upper, axis=None, kind="stable")[:COMPARED]:
        pair = divmod(int(place), upper.shape[1])
        if upper[pair] > 0:
            yield float(upper[pair]), pair, number
