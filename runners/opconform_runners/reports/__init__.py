"""Reports on runs: terminal, comparison, files in other programs' formats, and the HTML page."""
