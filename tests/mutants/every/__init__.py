"""The mutants of every operation: faults of the graph around it, and of its outputs as they are handed out."""
