"""The mutants of single operations: faults that public reports show and that derive from no declaration."""
