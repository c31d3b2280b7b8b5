"""The command line: one module per command, which makes more modules than in other rooms."""
