"""Mutants: deliberately faulty implementations, one small change to a right one each, which the suites must catch."""
