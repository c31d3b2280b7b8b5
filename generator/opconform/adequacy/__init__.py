"""The adequacy of an operation's cases: the changes of its reference semantics that they detect."""
