"""From outputs to verdicts, and the file of expected failures."""
