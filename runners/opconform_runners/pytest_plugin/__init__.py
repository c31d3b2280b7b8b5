"""The pytest plugin: each case of a suite is one test of a backend."""
