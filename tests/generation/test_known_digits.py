"""Digits of ids are recognized when they are repeated, however many there are."""

import numpy as np

from opconform.generation.identity.known_digits import KnownDigits


def test_only_digits_that_were_not_added_before_are_new() -> None:
    """The digits are added in any order, and more of them than are kept in a set."""
    drawn = np.random.default_rng(0).integers(30_000, size=50_000) << 20
    known, expected = KnownDigits(), set[str]()

    for item in (f"{number:010x}" for number in drawn):
        assert known.add(item) == (item not in expected)
        expected.add(item)

    assert len(known) == len(expected)


def test_the_least_and_the_greatest_digits_are_kept_apart() -> None:
    """The digits have 40 bits, which all count."""
    known = KnownDigits()
    for number in range(10_000):
        assert known.add(f"{number:010x}")
        assert known.add(f"{(1 << 40) - 1 - number:010x}")

    assert not known.add("0000000000")
    assert not known.add("ffffffffff")
    assert len(known) == 20_000
