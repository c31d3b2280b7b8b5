"""The published format of a suite: read, verified and selected from."""
