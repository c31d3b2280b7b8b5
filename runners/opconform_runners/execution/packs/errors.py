"""Why models cannot be joined."""


class UnjoinableError(Exception):
    """The models of some cases cannot be joined, and the cases are executed alone. This is no error of theirs."""
