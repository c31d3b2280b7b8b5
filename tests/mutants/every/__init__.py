"""The mutants of every operation, which derive from declarations, and faults of the graph around a node."""
