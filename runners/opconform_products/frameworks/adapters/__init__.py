"""How the arguments of an operation become the arguments of a call, for all frameworks."""
