"""Philox random numbers keyed by text, the same with every version of numpy."""

import hashlib

import numpy as np


def random_words(count: int, *key: object) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """`count` random 64-bit words that depend on the key only: Philox's raw stream, which numpy never changes."""
    digest = hashlib.sha256("\0".join(str(x) for x in key).encode()).digest()
    words: np.ndarray[tuple[int], np.dtype[np.uint64]]
    words = np.random.Philox(key=int.from_bytes(digest[:16], "little")).random_raw(count)
    return words
