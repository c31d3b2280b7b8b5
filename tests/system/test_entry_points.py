"""Entry points: what installed distributions add, and what is refused."""

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opconform.dialects import DIALECTS, Dialect
from opconform.system.entry_points import Registry, Unusable

MODULE = """\
from opconform.dialects.dialect import Dialect

ONE = Dialect(model="one/model.txt", files_of=lambda golden, name: {"one/model.txt": name.encode()})
"""
Declare = Callable[..., None]


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """A function that installs a distribution with lines of a group of entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "module_of_dialects.py").write_text(MODULE)
    (tmp_path / "module_that_raises.py").write_text("1 / 0\n")

    def write(*lines: str, distribution: str = "maker") -> None:
        folder = tmp_path / f"{distribution}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("\n".join(("[a.group]", *lines, "")))

    return write


def registry(shipped: dict[str, Dialect] | None = None) -> Registry[Dialect]:
    """A registry of dialects that refuses the name `odd`."""

    def check(name: str, _dialect: Dialect, _file: Path) -> None:
        if name == "odd":
            raise Unusable("it is odd. Make it even.")

    return Registry("a.group", (Dialect,), shipped or {}, check)


def test_an_installed_object_is_found_by_its_name(declare: Declare) -> None:
    """Beside the shipped ones; the files that decide what it does are known."""
    declare("one = module_of_dialects:ONE")
    shipped = {"openvino": DIALECTS["openvino"]}
    found = registry(shipped)

    assert found["one"].model == "one/model.txt"
    assert list(found) == ["openvino", "one"]
    assert found.installed() == ("one",)
    assert found.module_of("one") == "module_of_dialects"
    assert [source.name for source in found.sources_of("one")] == ["module_of_dialects.py"]
    assert found.module_of("openvino") is None
    assert "two" not in found


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("two = nowhere:TWO", "nowhere:TWO cannot be imported: ModuleNotFoundError: No module named 'nowhere'."),
        (
            "two = module_that_raises:TWO",
            "module_that_raises:TWO cannot be imported: ZeroDivisionError: division by zero.",
        ),
        (
            "two = module_of_dialects:Dialect",
            "module_of_dialects:Dialect is of the type type, not Dialect. Name an object of that type.",
        ),
        ("odd = module_of_dialects:ONE", "it is odd. Make it even."),
        ("openvino = module_of_dialects:ONE", "opconform ships that name. Rename it."),
    ],
)
def test_an_entry_point_that_cannot_be_used_costs_one_sentence(
    declare: Declare, caplog: pytest.LogCaptureFixture, line: str, sentence: str
) -> None:
    """Said once; the others can be used."""
    declare("one = module_of_dialects:ONE", line)
    shipped = {"openvino": DIALECTS["openvino"]}
    found = registry(shipped)
    with caplog.at_level(logging.WARNING):
        assert list(found) == list(found) == ["openvino", "one"]

    name = line.partition(" ")[0]
    assert caplog.messages == [f"warning: The entry point {name} of maker (a.group) is not used: {sentence}"]
    assert found["openvino"] is shipped["openvino"]


def test_a_name_of_two_distributions_is_neithers(declare: Declare, caplog: pytest.LogCaptureFixture) -> None:
    """Which one is meant cannot be known."""
    declare("one = module_of_dialects:ONE")
    declare("one = module_of_dialects:ONE", distribution="another")
    assert list(registry()) == []

    told = "several distributions declare it. Uninstall all but one."
    assert caplog.messages == [f"warning: The entry point one of another and maker (a.group) is not used: {told}"]


def test_no_entry_point_is_searched_for_by_imports_help_and_shipped_names() -> None:
    """It takes time, and imports what strangers installed."""
    program = (
        "import importlib.metadata as metadata, importlib\n"
        "asked, search = [], metadata.entry_points\n"
        "def entry_points(**given):\n"
        "    asked.extend(each for each in given.values() if each.startswith('opconform'))\n"
        "    return search(**given)\n"
        "metadata.entry_points = entry_points\n"
        "from click.testing import CliRunner\n"
        "from opconform.operations import OPERATIONS\n"
        "from opconform.dialects import DIALECTS\n"
        "from opconform.specs.index import shipped_files\n"
        "from opconform.specs.loader import load_specs\n"
        "from opconform_runners.cli.main import cli\n"
        "for words in (['--help'], ['generate', '--help'], ['certify', '--help'], ['new', '--help']):\n"
        "    assert CliRunner().invoke(cli, words).exit_code == 0\n"
        "OPERATIONS['Split-1'], DIALECTS['onnx']\n"
        "load_specs([shipped_files()['Split-1/axis.yaml']])\n"
        "print(asked)\n"
        "list(OPERATIONS)\n"
        "print(asked)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == ["[]", "['opconform.operations']"]
