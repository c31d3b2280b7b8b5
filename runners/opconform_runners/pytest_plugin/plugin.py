"""What pytest loads as the plugin `opconform`: options, and nothing more until one of them is given.

The package announces this module under `pytest11`, so `pytest -p opconform` finds it by that name, and so does every
pytest that runs where opconform is installed: hence it imports nothing.
"""

import pytest

_OPTIONS = ("backend", "harness", "python", "suite", "profile", "timeout", "strict")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--opconform-backend` and its companions."""
    group = parser.getgroup("opconform", "conformance suites (opconform)")
    group.addoption("--opconform-backend", metavar="NAME[:DEVICE]", help="Test this backend, or path/file.py:Class.")
    group.addoption("--opconform-harness", metavar="COMMAND", help="Test what this harness drives.")
    group.addoption("--opconform-python", metavar="PATH", help="The interpreter that the backend is run in.")
    group.addoption(
        "--opconform-suite",
        metavar="PATH",
        help="A suite; by default the shipped cases, generated into pytest's cache folder.",
    )
    group.addoption(
        "--opconform-profile", metavar="NAME", action="append", help="Only cases of this profile; repeatable."
    )
    group.addoption("--opconform-timeout", metavar="SECONDS", type=float, help="What one case may take (20).")
    group.addoption(
        "--opconform-strict", action="store_true", default=None, help="Fail what breaks no more than an interpretation."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect cases, where an option of the plugin asks for it."""
    if any(config.getoption(f"opconform_{each}") is not None for each in _OPTIONS):
        from opconform_runners.pytest_plugin.conformance import Conformance

        config.pluginmanager.register(Conformance(), "opconform-conformance")
