"""The backend `tests/mutants/harness.py:Mutant:NAME`, for a harness, which has no other way to import `tests`."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
Mutant = import_module("tests.mutants.backend").Mutant
