"""The lines of the summary on cases that are only counted."""

import json
import re
from pathlib import Path

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
    assert shown.count("  expected ") == 12
    assert f"opconform report {tmp_path} -v\n" in shown
    whole = opconform("report", tmp_path, "-v").stdout
    assert whole.count("\n  case ") == 12 + int(left)
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


#: So many operations that each has one row.
MANY = (
    *("Abs-1", "Add-1", "Clamp-1", "Convert-1", "Divide-1", "Equal-1", "Erf-1", "Less-1", "LogicalAnd-1", "Maximum-1"),
    *("Minimum-1", "ShapeOf-1", "Split-1", "Tile-1"),
)


def test_many_operations_have_one_row_each(opconform: Run, tmp_path: Path) -> None:
    """With their broken requirements and their cases by verdict; the conclusion names the worst three."""
    opconform("generate", *MANY, "--profile", "core", "-k", "*/page-example*", "--out", tmp_path / "suite")
    arguments = ("run", tmp_path / "suite", "--backend", f"{MINIATURES}:RefusesEverything", "--out", tmp_path)
    shown = opconform(*arguments, code=1).stdout
    requirements = json.loads((tmp_path / "report.json").read_text())["requirements"]
    broken = {
        op: count
        for op, rows in requirements.items()
        if (count := sum(row["broken"] and row["level"] == "normative" for row in rows.values()))
    }

    rows = re.findall(r"^([A-Za-z0-9]+-\d+) .* (\d+) +(?:\d+|-)$", shown.partition("\noperation ")[2], re.MULTILINE)
    assert len(rows) > 12
    assert {op: int(number) for op, number in rows} == broken
    [(number, named)] = re.findall(r" broken: in (\d+) operations, most of (.+?)[.;]", shown.replace("\n", " "))
    assert int(number) == len(broken)
    worst = {op: int(count) for op, count in re.findall(r"(\S+) \((\d+)\)", named)}
    assert len(worst) == 3
    assert all(broken[op] == count >= sorted(broken.values())[-3] for op, count in worst.items())
