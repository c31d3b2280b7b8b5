"""URLs of stores, and as they are shown: without names and passwords."""

import re

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: The name and the password in a URL; a password may contain slashes, and a port is not a password.
_CREDENTIALS = re.compile(r"(?<=://)(?:[^/\s]*|[^/\s:@]+:(?!\d+/)\S*)(?=@)")


def is_url(text: str) -> bool:
    """Whether a word of the command line is a URL and not a local path."""
    return _URL.match(text) is not None


def without_credentials(url: str) -> str:
    """A URL as it is shown."""
    return _CREDENTIALS.sub("***", url, count=1)


def secrets_of(url: str) -> tuple[str, ...]:
    """The texts of a URL that are not shown, the longest first."""
    match = _CREDENTIALS.search(url)
    return tuple(filter(None, (match[0], *match[0].split(":", 1)))) if match else ()
