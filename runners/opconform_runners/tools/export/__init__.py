"""Exports: the cases of a suite in the formats of other programs."""

from opconform_runners.tools.export.export import FORMATS, Exported, Request, export_suite

__all__ = ["FORMATS", "Exported", "Request", "export_suite"]
