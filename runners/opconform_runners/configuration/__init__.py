"""Defaults of options, from the table `[tool.opconform]` of `pyproject.toml`."""

from opconform_runners.configuration.defaults import Defaults, defaults_at

__all__ = ["Defaults", "defaults_at"]
