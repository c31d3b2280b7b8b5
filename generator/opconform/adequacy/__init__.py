"""How good the cases of an operation are: what they tell apart in its reference semantics."""
