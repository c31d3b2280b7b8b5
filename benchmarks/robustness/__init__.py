"""Kills, full disks, and hostile harnesses, suites, specs and files: what held, and what did not."""
