"""From outputs to verdicts: comparison, judge and results, and the file of expected failures."""
