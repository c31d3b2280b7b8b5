"""The HTML page: what it says of runs, as plain values for a template and a script."""
