"""How the arguments of operations become those of calls, for all frameworks."""
