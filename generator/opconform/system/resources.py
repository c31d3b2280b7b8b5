"""The shipped cases, templates and C++ sources, and the rendering of templates."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from jinja2 import FunctionLoader, StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from opconform.errors import RenderError


@cache
def root() -> Traversable:
    """The folder of `cases`, `templates` and `runners/cpp`: installed, or the top level of a checkout."""
    installed = files("opconform") / "_data"
    return installed if installed.is_dir() else Path(__file__).parents[3]


def render(template: str, **values: object) -> Markup:
    """A rendered template. Values are escaped for XML, except in templates of Python, which get Python source."""
    try:
        return Markup(_template(template).render(values))  # noqa: S704 - the values have been escaped
    except TemplateError as error:
        raise RenderError(f"templates/{template} cannot be rendered: {error}.") from error


def text_of(name: str) -> str:
    """A file among the templates, not rendered."""
    source = _source(name)
    if source is None:
        raise RenderError(f"templates/{name} is missing. Install opconform again.")
    return source


@cache
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        loader=FunctionLoader(_source),
        autoescape=lambda name: name is None or ".py." not in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def _template(name: str) -> Template:
    return _environment().get_template(name)


def _source(name: str) -> str | None:
    file = root() / "templates" / name
    return file.read_text(encoding="utf-8") if file.is_file() else None
