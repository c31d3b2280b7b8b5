"""From outputs to verdicts: comparison, judge and records, the file of expected failures, and text for people."""
