"""The machine and the installation: files, memory, signals, executors, entry points, and what is shipped."""
