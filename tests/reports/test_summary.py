"""The lines of the summary on cases that are only counted."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from opconform.explanation.families import families_of
from opconform.specs.loader import shipped_operations
from opconform_runners.reports.terminal.wrapped import Wrapped, print_sentence
from tests.conftest import MINIATURES, Run


def test_inconclusive_cases_are_one_line(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """With the count and the reason. `-v` lists them, and so does `report -v` afterwards."""
    arguments = ("run", small_suite, "--backend", f"{MINIATURES}:RefusesEverything", "--out", tmp_path)
    brief, long = (opconform(*arguments, *more, code=1).stdout for more in ((), ("-v", "--force")))

    line = "Inconclusive: 1 case, since the same case without the violation did not pass either."
    assert [line for line in brief.splitlines() if line.startswith("Inconclusive")] == [line]
    assert "Inconclusive cases\n  1 case, such as VariadicSplit-1/rejected/" in long
    assert f"opconform report {tmp_path} -v\n" in brief
    assert long.startswith(opconform("report", tmp_path, "-v").stdout)


def test_a_summary_has_the_first_failures(opconform: Run, few_core: Path, tmp_path: Path) -> None:
    """A backend that fails everywhere fills one screen or two; `report -v` prints the others."""
    arguments = (
        "run",
        few_core,
        "--backend",
        f"{MINIATURES}:RefusesEverything",
        "-k",
        "Concat-1/*",
        "-k",
        "Pad-12/*",
    )
    shown = opconform(*arguments, "--out", tmp_path, code=1).stdout
    [left] = re.findall(r"\n… and (\d+) more \(`opconform report OUT -v` lists them\)\n", shown)
    folded = r"\n(\d+) requirements without decided cases; (\d+) requirements without cases \(`opconform report OUT -v` lists them\)\n"
    [(undecided, without)] = re.findall(folded, shown)
    assert shown.count("  expected ") == 10
    assert f"opconform report {tmp_path} -v\n" in shown
    whole = opconform("report", tmp_path, "-v").stdout
    assert whole.count("\n  case ") == 10 + int(left)
    assert whole.index("\nFindings\n") < whole.index("\nrequirement ")
    assert shown.count("\n✗ ") == whole.count("\n✗ ")
    assert whole.count("\n· ") == int(undecided) + int(without)


def test_remarks_are_one_line_in_words(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Without the names that the files have for them."""
    (tmp_path / "misreturned.py").write_text(
        "from opconform_runners.backends import Rejected\nfrom opconform_runners.backends.numpy.backend import Numpy\n\n\n"
        "class Late(Numpy):\n    def run(self, case, model, feeds):\n        try:\n"
        "            return super().run(case, model, feeds)\n        except Rejected as fault:\n"
        "            raise Rejected('run', fault.message) from fault\n"
    )
    shown = opconform("run", small_suite, "--backend", "misreturned.py:Late", "--out", "out", cwd=tmp_path).stdout

    remark = "Remarks: 1 case rejected at run time instead of when the model was built."
    assert [line for line in shown.splitlines() if "Remarks" in line] == [remark]


#: So many operations that each family has one row.
MANY = (
    *("Abs-1", "Add-1", "Clamp-1", "Convert-1", "Divide-1", "Equal-1", "Erf-1", "Less-1", "LogicalAnd-1", "Maximum-1"),
    *("Minimum-1", "ShapeOf-1", "Split-1", "Tile-1"),
)


def test_many_operations_have_one_row_per_family(opconform: Run, tmp_path: Path) -> None:
    """With their broken requirements, the worst of them, and their cases by verdict; the conclusion names the worst three."""
    opconform("generate", *MANY, "--profile", "core", "-k", "*/page-example*", "--out", tmp_path / "suite")
    arguments = ("run", tmp_path / "suite", "--backend", f"{MINIATURES}:RefusesEverything", "--out", tmp_path)
    shown = opconform(*arguments, code=1).stdout
    requirements = json.loads((tmp_path / "report.json").read_text())["requirements"]
    broken = {
        op: sum(row["broken"] and row["level"] == "normative" for row in rows.values())
        for op, rows in requirements.items()
    }

    rows = re.findall(r"^(\w+(?: \w+)?) .* (\d+) +(\w+-\d+) *$", shown.partition("\noperations ")[2], re.MULTILINE)
    expected = {
        family: (str(sum(broken[op] for op in ops)), max(broken[op] for op in ops))
        for family, ops in families_of(broken).items()
    }
    assert {family: (number, broken[worst]) for family, number, worst in rows} == expected
    [(number, named)] = re.findall(r" broken: in (\d+) operations, most of (.+?)[.;]", shown.replace("\n", " "))
    assert int(number) == len(broken)
    worst = {op: int(count) for op, count in re.findall(r"(\S+) \((\d+)\)", named)}
    assert len(worst) == 3
    assert all(broken[op] == count >= sorted(broken.values())[-3] for op, count in worst.items())


def test_every_shipped_operation_has_a_family() -> None:
    """One that is not shipped is its own."""
    families = families_of([*shipped_operations(), "Moon-1"])

    assert families.pop("Moon-1") == ["Moon-1"]
    assert sorted(op for ops in families.values() for op in ops) == sorted(shipped_operations())
    assert not {*families} & {*shipped_operations()}


@pytest.mark.parametrize("width", [24, 44, 80])
def test_lines_end_between_words(width: int) -> None:
    """However narrow the terminal is; a word that is wider has a line of its own."""
    text = (
        "expected 3.0 (0x40400000) at output_0[1, 0] of Split-1/axis-right-in-fewer-bits/caae6b5adf, read past the end"
    )
    console = Console(file=StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(Wrapped(text, "got"), crop=False)
    print_sentence(console, text)

    printed = cast("StringIO", console.file).getvalue()
    lines = printed.splitlines()
    assert printed.split() == ["got", *text.split(), *text.split()]
    assert [line for line in lines if len(line) > width and len(line.split()) > 1] == []
    assert lines[1].startswith(" " * 11)


def test_element_types_that_are_not_declared_are_named(opconform: Run, few_core: Path, tmp_path: Path) -> None:
    """Where cases are not counted because of them."""
    (tmp_path / "narrow.py").write_text(
        "from dataclasses import replace\nfrom opconform_runners.backends.numpy.backend import Numpy\n\n\n"
        "class Narrow(Numpy):\n    def describe(self):\n"
        "        return replace(super().describe(), element_types=('f32', 'i32', 'i64'))\n"
        "    def run(self, case, model, feeds):\n        return [outputs[1:] for outputs in super().run(case, model, feeds)]\n"
    )
    arguments = ("run", few_core, "-b", "narrow.py:Narrow", "-k", "Concat-1/element-types*", "--out", "out")

    [line] = [
        x for x in opconform(*arguments, cwd=tmp_path, code=None).stdout.splitlines() if x.startswith("Not declared")
    ]

    named = line.rstrip(".").removeprefix("Not declared by the backend: ").split(", ")
    assert {"f16", "u8", "string"} <= {*named}
    assert "f32" not in named


def test_why_a_run_is_incomplete_is_said_last(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Also of several backends, by their names."""
    backends = ("-b", f"{MINIATURES}:SupportsNothing", "-b", "numpy")
    one = opconform("run", small_suite, *backends[:2], "--out", tmp_path / "one", code=1)
    both = opconform("run", small_suite, *backends, "--out", tmp_path / "both", code=1)

    assert one.stdout.splitlines()[-1].startswith("Incomplete: ")
    assert re.match(r"Incomplete: \S+.*: ", both.stdout.splitlines()[-1])
