"""The HTML page of one or several runs."""
