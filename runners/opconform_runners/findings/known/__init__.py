"""Known findings: the bugs found in released products, and which failures of a run they explain."""
