"""The mutants of Split-1 and VariadicSplit-1."""
