"""The shipped cases, templates and C++ sources, and the rendering of templates."""

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from opconform.errors import RenderError

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment
    from markupsafe import Markup

#: The name of the file with an operation's requirements.
REQUIREMENTS = "requirements.yaml"
#: The versioned name of an operation and of the folder of its cases, as in `Split-1`.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*-[0-9]+")
#: The dialects that opconform ships, each with a folder of templates, and those that are rendered by default: the one
#: that can express every case.
DIALECT_NAMES = ("openvino", "onnx", "onnx-13", "onnx-17", "stablehlo")
DEFAULT_DIALECTS = ("openvino",)
#: The entry points of operations.
OPERATIONS_GROUP = "opconform.operations"


@cache
def root() -> Traversable:
    """The folder of `cases`, `templates` and `runners/cpp`: installed, or the top level of a checkout."""
    installed = files("opconform") / "_data"
    return installed if installed.is_dir() else Path(__file__).parents[3]


def render(template: str, **values: object) -> "Markup":
    """A rendered template: one of opconform's, or `PACKAGE:PATH` in another package.

    Values are escaped for XML, except in templates of Python, which get Python source.
    """
    from jinja2 import TemplateError  # most commands render nothing, and it takes long to import
    from markupsafe import Markup

    try:
        return Markup(_template(template).render(values))  # noqa: S704 - the values have been escaped
    except TemplateError as error:
        place = template if ":" in template else f"templates/{template}"
        raise RenderError(f"{place} cannot be rendered: {error}.") from error


def text_of(name: str) -> str:
    """A file among the templates, not rendered."""
    source = _source(name)
    if source is None:
        raise RenderError(f"templates/{name} is missing. Install opconform again.")
    return source


@cache
def _environment() -> "SandboxedEnvironment":
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(
        loader=FunctionLoader(_source),
        autoescape=lambda name: name is None or ".py." not in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def _template(name: str) -> "Template":
    return _environment().get_template(name)


def _source(name: str) -> str | None:
    package, colon, path = name.partition(":")
    file = files(package) / path if colon else root() / "templates" / name
    return file.read_text(encoding="utf-8") if file.is_file() else None
