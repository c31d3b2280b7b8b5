"""The scripts that write files of the repository."""
