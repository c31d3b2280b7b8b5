"""Strings: the bytes of an element, as the text that `.npy` can store.

`.npy` has characters instead of bytes, and no NULs at the end of a string. A byte that is not part of valid UTF-8, and
a NUL at the end, is stored as the code point U+DC00 plus the byte, which no valid UTF-8 has (as Python's handler
`surrogateescape` does for bytes from 0x80).
"""

_NUL = "\udc00"


def text_of(content: bytes) -> str:
    """The text that stands for the bytes of a string."""
    text = content.decode("utf-8", "surrogateescape")
    kept = text.rstrip("\0")
    return kept + _NUL * (len(text) - len(kept))


def bytes_of(text: str) -> bytes:
    """The bytes of a string that is stored as a text.

    Raises:
        UnicodeEncodeError: The text has half of a surrogate pair that does not stand for a byte.
    """
    return text.replace(_NUL, "\0").encode("utf-8", "surrogateescape")
