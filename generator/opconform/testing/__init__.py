"""The pytest plugin: the cases of a suite as tests of a backend."""
