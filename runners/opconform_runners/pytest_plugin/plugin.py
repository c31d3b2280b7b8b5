"""The module that pytest loads as the plugin `opconform`: its options, and the rest once one of them is given.

The package announces this module under `pytest11`, so `pytest -p opconform` finds it by that name, and every pytest
imports it where opconform is installed. Therefore it imports nothing of opconform.
"""

from typing import Any

import pytest

_OPTIONS = ("backend", "harness", "python", "suite", "profile", "select", "baseline", "claims", "timeout", "strict")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--opconform-backend` and the other options."""
    group = parser.getgroup("opconform", "conformance suites (opconform)")

    def add(name: str, help_text: str, **settings: Any) -> None:
        group.addoption(f"--opconform-{name}", help=help_text, **settings)

    add("backend", "Test this backend, or path/file.py:Class.", metavar="NAME[:DEVICE]")
    add("harness", "Test the backend that this harness drives.", metavar="COMMAND")
    add("python", "The Python interpreter that runs the backend.", metavar="PATH")
    add("suite", "A suite; by default the shipped cases, generated into pytest's cache folder.", metavar="PATH")
    add("profile", "Use only cases of this profile (repeatable).", metavar="NAME", action="append")
    add("select", "Use only cases that match an operation, id or requirement.", metavar="PATTERN", action="append")
    add("baseline", "File of expected failures; only other failures count.", metavar="FILE")
    add("claims", "File of claims; a claimed case that is refused fails.", metavar="FILE")
    add("timeout", "Time limit for one case. [default: 20]", metavar="SECONDS", type=float)
    interpretations = "Treat interpretations of the specification like normative requirements."
    add("strict", interpretations, action="store_true", default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Collect cases if an option of the plugin is given."""
    if any(config.getoption(f"opconform_{option}") is not None for option in _OPTIONS):
        from opconform_runners.pytest_plugin.conformance import Conformance

        config.pluginmanager.register(Conformance(), "opconform-conformance")
