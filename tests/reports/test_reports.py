"""Reports in other formats: each is read back, says what `report.json` says, and treats a backend's messages as text."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import junitparser
import pytest
from markdown_it import MarkdownIt

from opconform_runners.reports.formats.badge import CHARACTER
from opconform_runners.reports.report_file import read_report, write_report
from opconform_runners.reports.text import one_line, printable
from tests.conftest import MINIATURES, Run, interrupted
from tests.miniatures import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"
REJECTED = "VariadicSplit-1/rejected/edf4e822b0"
TWIN = "VariadicSplit-1/rejected/c8611d2f32"
ACCEPTED = [f"VariadicSplit-1/accepted/{each}" for each in ("055b3aac7f", "9c3891e153", "ddf616bfdd", "f7298254ae")]


@pytest.fixture(scope="module")
def runs(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of some backends by name, of one with a baseline (`known`) and of a killed one (`killed`)."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "known.txt").write_text(
        f"{REJECTED}  accepted-invalid  # not checked\n"
        f"{ACCEPTED[0]}  value  # zeros https://example.org/2\n"
        "Split-1/*  value  # another suite\n"
    )
    for name in ("Perfect", "LosesNegativeZero", "QuietsNans", "RefusesEverything", "Raises", "IsHostile"):
        out = folder / name
        opconform("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--out", out, code=None)
    known = ("--baseline", "known.txt", "--out", "known")
    opconform("run", small_suite, "--backend", f"{MINIATURES}:LosesNegativeZero", *known, cwd=folder, code=1)
    interrupted(folder / "Perfect", folder / "killed")
    interrupted(folder / "Perfect", folder / "gave-up", 5)
    perfect = read_report(folder / "Perfect")
    left = tuple(each for each in perfect.results if each.id != REJECTED)
    write_report(folder / "gave-up", replace(perfect, results=left, missing=(REJECTED,), gave_up="The harness died."))
    return folder


def written(opconform: Run, run: Path, option: str, code: int = 0) -> str:
    """A run in a format, by way of a file, since line ends count."""
    file = run.parent / f"{run.name}.{option}"
    opconform("report", run, f"--{option}", file, code=code)
    return file.read_bytes().decode()


def suites(text: str) -> dict[str, dict[str, str]]:
    """What a JUnit parser sees: the outcome of each case, by suite and case."""
    found: dict[str, dict[str, str]] = {}
    parsed = junitparser.JUnitXml.fromstring(text.encode())
    for suite in parsed:
        cases = {case.name: case.result[0].__class__.__name__ if case.result else "Passed" for case in suite}
        counts = Counter(cases.values())
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
            len(cases),
            counts["Failure"],
            counts["Error"],
            counts["Skipped"],
        )
        found[suite.name] = cases
    assert parsed.tests == sum(len(each) for each in found.values())
    return found


def test_junit_has_one_test_case_per_case(opconform: Run, runs: Path) -> None:
    """Its counts are those of `report.json`, and a failure says what is expected."""
    text = written(opconform, runs / "LosesNegativeZero", "junit")
    root = ET.fromstring(text.encode())
    bodies = [each.text or "" for each in root.iter("failure")]
    report = json.loads((runs / "LosesNegativeZero" / "report.json").read_text())
    text_of_bits = report["requirements"]["VariadicSplit-1"]["data.bits"]["text"]

    assert suites(text) == {
        "VariadicSplit-1": {**dict.fromkeys(ACCEPTED, "Failure"), TWIN: "Passed", REJECTED: "Passed"}
    }
    assert int(root.get("tests", "")) == len(report["cases"])
    assert [each.splitlines()[:2] for each in bodies] == [
        [f"expected: {text_of_bits}", f"case: {case}"] for case in ACCEPTED
    ]


def test_junit_names_requirements_as_properties_of_a_case(opconform: Run, runs: Path) -> None:
    """Those that it is evidence for, and those that it breaks, with their operation."""
    root = ET.fromstring(written(opconform, runs / "LosesNegativeZero", "junit").encode())
    cases = {each.get("name"): each for each in root.iter("testcase")}
    failed, passed = (
        [(each.get("name"), each.get("value")) for each in cases[case].iter("property")] for case in (ACCEPTED[0], TWIN)
    )

    assert failed == [
        ("profile", "core"),
        ("requirement", "VariadicSplit-1:lengths.remainder"),
        ("broken", "VariadicSplit-1:data.bits"),
    ]
    assert passed == [("profile", "core"), ("requirement", "VariadicSplit-1:lengths.single-remainder")]
    assert cases[TWIN].get("classname") == "VariadicSplit-1.rejected"


def test_junit_skips_what_does_not_count(opconform: Run, runs: Path) -> None:
    """Known failures, interpretation differences, and inconclusive rejections."""
    known = written(opconform, runs / "known", "junit")
    nans = suites(written(opconform, runs / "QuietsNans", "junit"))
    refused = suites(written(opconform, runs / "RefusesEverything", "junit"))

    assert suites(known) == {
        "VariadicSplit-1": {
            ACCEPTED[0]: "Skipped",
            **dict.fromkeys(ACCEPTED[1:], "Failure"),
            TWIN: "Passed",
            REJECTED: "Failure",
        },
        "baseline": {"Split-1/*": "Failure"},
    }
    assert 'message="known failure (value): zeros https://example.org/2"' in known
    assert f'message="{REJECTED} passes, and known.txt:1 expects accepted-invalid: not checked"' in known
    assert {each: nans["VariadicSplit-1"][each] for each in ACCEPTED} == dict.fromkeys(ACCEPTED, "Skipped")
    assert (refused["VariadicSplit-1"][TWIN], refused["VariadicSplit-1"][REJECTED]) == ("Failure", "Skipped")


def test_junit_of_a_conformant_backend_has_no_failure(opconform: Run, runs: Path) -> None:
    """Every case passes."""
    found = suites(written(opconform, runs / "Perfect", "junit"))

    assert {each for cases in found.values() for each in cases.values()} == {"Passed"}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("killed", "INCOMPLETE, 2 of 2 cases supported: Interrupted after 2 of 6 cases. 2 pass."),
        ("gave-up", "INCOMPLETE, 5 of 6 cases supported: The harness died. 1 case has no verdict. 5 pass."),
        ("Raises", "INCOMPLETE, 5 of 6 cases supported: 1 case ended in a harness error. 5 pass."),
    ],
)
def test_every_format_reports_an_incomplete_run_as_incomplete(
    opconform: Run, runs: Path, name: str, verdict: str
) -> None:
    """And as nothing else, and with 1."""
    junit = written(opconform, runs / name, "junit", code=1)
    markdown = written(opconform, runs / name, "markdown", code=1)
    table = [*csv.DictReader(io.StringIO(written(opconform, runs / name, "csv", code=1)))]
    badge = written(opconform, runs / name, "badge", code=1)
    annotations = opconform("report", runs / name, "--github", code=1).stdout

    assert suites(junit)["run"]["the verdict is complete"] == "Error"
    assert f'message="{verdict}"' in junit
    assert markdown.startswith("## ⚠️ opconform: INCOMPLETE")
    assert verdict.replace(":", "&#58;") in markdown
    assert {each["run"] for each in table} == {"incomplete"}
    coverage = "2 of 2" if name == "killed" else "5 of 6"
    texts = [each.text for each in ET.fromstring(badge).iter(f"{SVG}text")]
    assert texts == ["opconform", f"incomplete, {coverage} cases supported"]
    assert annotations.splitlines()[0] == f"::error title=opconform%3A incomplete::{verdict}"
    for each in (junit, markdown, badge, annotations):
        assert "conformant" not in each.replace('value="conformant"', "").lower()


def test_a_missing_case_is_named(opconform: Run, runs: Path) -> None:
    """An error in JUnit, a row in CSV."""
    found = suites(written(opconform, runs / "gave-up", "junit", code=1))
    table = [*csv.DictReader(io.StringIO(written(opconform, runs / "gave-up", "csv", code=1)))]

    assert found["run"][REJECTED] == "Error"
    assert [each["verdict"] for each in table if each["id"] == REJECTED] == ["missing"]


def changed(document: dict[str, Any]) -> dict[str, Any]:
    """A report in which a case that failed passes."""
    first, *others = document["cases"]
    return document | {"cases": [{**first, "verdict": "pass"}, *others]}


def test_what_does_not_belong_together_is_refused(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Changed results, a report of another run, and no results; nothing is written."""
    source, run = runs / "LosesNegativeZero", tmp_path / "run"
    sentences = []

    def refused(code: int = 1) -> None:
        done = opconform("report", "run", "--csv", "x.csv", cwd=tmp_path, code=code)
        sentences.append(done.stderr)

    refused(2)
    shutil.copytree(source, run)
    (run / "results.jsonl").write_text((source / "results.jsonl").read_text().replace('"value"', '"shape"'))
    refused()
    shutil.copy(source / "results.jsonl", run)
    (run / "report.json").write_text(json.dumps(changed(json.loads((source / "report.json").read_text()))))
    refused()
    shutil.copy(runs / "Perfect" / "report.json", run)
    refused()

    assert sentences == [
        "error: Results not found: run. Write them with `opconform run` or `opconform certify`.\n",
        "error: run/results.jsonl was changed after the run. Repeat the run.\n",
        "error: run/report.json was changed after the run: it does not match its own cases. Repeat the run.\n",
        "error: run/report.json is not of the same run as run/results.jsonl. Repeat the run.\n",
    ]
    assert not (tmp_path / "x.csv").exists()


def test_hostile_words_stay_words(opconform: Run, runs: Path) -> None:
    """XML parses, no formula begins, no command is injected, and Markdown holds no tag, mention, link or new line."""
    junit = written(opconform, runs / "IsHostile", "junit")
    table = [*csv.reader(io.StringIO(written(opconform, runs / "IsHostile", "csv"), newline=""))]
    markdown = written(opconform, runs / "IsHostile", "markdown")
    badge = written(opconform, runs / "IsHostile", "badge")
    annotations = opconform("report", runs / "IsHostile", "--github").stdout
    [failure] = [each for each in junitparser.JUnitXml.fromstring(junit.encode()) if each.failures]
    [message] = [case.result[0].message for case in failure if case.result]
    cells = [cell for row in table for cell in row]

    assert message.startswith(
        "rejected at build time, although it is valid: =1+1 \\x00\\x1b[31m]]>&amp;<b onload=x>\\ufffe\\u202e "
        "::error title=x::injected | `a` | @everyone"
    )
    assert ET.fromstring(badge).findtext(f"{SVG}title", "").startswith("opconform: =1+1 \\x00\\x1b[31m")
    assert any(cell.startswith("'=1+1 \\x00") for cell in cells) or not any("=1+1" in cell[:6] for cell in cells)
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)
    assert all(line.startswith(("::error title=", "::notice title=")) for line in annotations.splitlines())
    assert len(annotations.splitlines()) == 2
    text = re.sub(r"</?(code|details|summary)>", "", markdown)
    for each in ("<", ">", "@", "`", "https:", "\x1b", "\x00", "_"):
        assert each not in text
    assert [line.count("|") for line in markdown.splitlines() if "rejected-valid" in line] == [8]


def test_hostile_words_are_rendered_as_they_are(opconform: Run, runs: Path) -> None:
    """A renderer that allows HTML sees the texts of the table's cells, and no tag of the backend's."""
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(written(opconform, runs / "IsHostile", "markdown"))
    )
    [row] = [
        each
        for each in ET.fromstring(f"<page>{html}</page>").iter("tr")
        if "rejected-valid" in "".join(each.itertext())
    ]
    cells = ["".join(each.itertext()) for each in row]

    assert cells[:3] == ["VariadicSplit-1 lengths.remainder", "rejected-valid", "1"]
    assert cells[4] == ACCEPTED[2]
    assert cells[6] == one_line(f"rejected at build time, although it is valid: {HOSTILE}", 240)
    assert set(re.findall(r"<(\w+)", html)) == {
        "h2",
        "h3",
        "p",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    } | {
        "details",
        "summary",
    }


def test_a_message_that_begins_like_a_formula_is_text(opconform: Run, runs: Path) -> None:
    """A spreadsheet sees an apostrophe, and a text."""
    table = [*csv.DictReader(io.StringIO(written(opconform, runs / "IsHostile", "csv"), newline=""))]
    [row] = [each for each in table if each["reason"] == "rejected-valid"]

    assert row["message"].startswith("'=1+1 \\x00\\x1b[31m")
    assert row["message"].endswith("https://example.org, end")
    assert row["sentence"].startswith("rejected at build time, although it is valid: =1+1")


def test_csv_has_one_row_per_case(opconform: Run, runs: Path) -> None:
    """With the standing of each case against the baseline, where there is one."""
    bare = [*csv.DictReader(io.StringIO(written(opconform, runs / "LosesNegativeZero", "csv"), newline=""))]
    text = written(opconform, runs / "known", "csv")
    table = {each["id"]: each for each in csv.DictReader(io.StringIO(text, newline=""))}

    assert {each["standing"] for each in bare} == {""}
    assert text.count("\r\n") == 7
    assert [table[each]["standing"] for each in (*ACCEPTED, TWIN, REJECTED)] == [
        "known",
        "new",
        "new",
        "new",
        "pass",
        "passes",
    ]
    assert table[ACCEPTED[0]]["inputs"] == "data f32[6, 2], axis 0, split_lengths [1, 2, -1]"


def test_markdown_says_what_is_new(opconform: Run, runs: Path) -> None:
    """The verdict first, then what is new against the baseline, then what is known."""
    text = written(opconform, runs / "known", "markdown")

    assert text.startswith(
        "## ❌ opconform: new&#58; 3 regressions, 1 unexpected pass, 1 stale line (not conformant, 6 of 6 cases supported, 1 known failure)&#58; numpy "
    )
    assert (
        "\n**Against <code>known.txt</code>**: new: 3 regressions, 1 unexpected pass, 1 stale line; 1 known failure.\n"
        in text
    )
    assert (
        f"\n### Unexpected passes\n\n- <code>{REJECTED} passes, and known.txt&#58;1 expects accepted-invalid&#58; "
        "not checked</code>\n" in text
    )
    assert (
        "\n### Stale lines\n\n- <code>known.txt&#58;3&#58; no case of the suite that matches 'Split-1/&#42;' can fail with value</code>\n"
        in text
    )
    assert text.index("### Regressions") < text.index("### Known failures") < text.index("<details>")
    assert "\n| ❌ <code>VariadicSplit-1 data.bits</code> | normative | 0 | 4 | 0 | 0 | 0 |\n" in text


@pytest.mark.parametrize(
    ("name", "baseline", "code", "heading"),
    [
        (
            "LosesNegativeZero",
            "VariadicSplit-1/accepted  value  # zeros",
            0,
            "✅ opconform: nothing new (not conformant, 6 of 6 cases supported, 4 known failures)",
        ),
        ("Perfect", "", 0, "✅ opconform: nothing new (conformant, 6 of 6 cases supported)"),
        (
            "Perfect",
            "Split-1/*  value  # gone",
            1,
            "❌ opconform: new&#58; 1 stale line (conformant, 6 of 6 cases supported)",
        ),
        ("Raises", "", 1, "⚠️ opconform: INCOMPLETE, 5 of 6 cases supported"),
    ],
)
def test_a_heading_says_the_verdict_against_the_baseline(
    opconform: Run, small_suite: Path, tmp_path: Path, name: str, baseline: str, code: int, heading: str
) -> None:
    """Its mark is that of the run's exit code, and an incomplete run stays that."""
    (tmp_path / "known.txt").write_text(baseline)
    command = ("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--baseline", "known.txt", "--out", "out")
    opconform(*command, cwd=tmp_path, code=code)
    text = written(opconform, tmp_path / "out", "markdown", code=int(name == "Raises"))

    assert text.startswith(f"## {heading}&#58; numpy ")


def test_annotations_point_at_the_baseline(opconform: Run, runs: Path) -> None:
    """An unexpected pass and a stale line stand in a file of the repository."""
    lines = opconform("report", runs / "known", "--github").stdout.splitlines()

    assert lines[0] == (
        f"::error file=known.txt,line=1,title=opconform%3A unexpected pass::{REJECTED} passes, and known.txt:1 expects "
        "accepted-invalid: not checked"
    )
    assert lines[1] == (
        "::error file=known.txt,line=3,title=opconform%3A stale line::known.txt:3: "
        "no case of the suite that matches 'Split-1/*' can fail with value"
    )
    assert lines[2].startswith(
        "::error title=opconform%3A VariadicSplit-1 data.bits%3A wrong data (value)::3 cases, such as "
    )
    assert lines[3:] == ["::notice title=opconform%3A known failures::1 known failure."]


def test_a_badge_is_as_wide_as_its_text(opconform: Run, runs: Path) -> None:
    """Each text fits its field with the same room on both sides, and nothing is loaded from anywhere."""
    text = written(opconform, runs / "Perfect", "badge")
    svg = ET.fromstring(text)
    fields = [each for group in svg.findall(f"{SVG}g") for each in group.findall(f"{SVG}rect")]
    texts = [*svg.iter(f"{SVG}text")]

    assert [each.text for each in texts] == ["opconform", "conformant, 6 of 6 cases supported"]
    for field, each in zip(fields, texts, strict=True):
        start, width = float(field.get("x", "0")), float(field.get("width", "0"))
        assert float(each.get("textLength", "0")) == len(each.text or "") * CHARACTER
        assert float(each.get("x", "0")) - start == pytest.approx(6)
        assert width - float(each.get("textLength", "0")) == pytest.approx(12)
    assert float(svg.get("width", "0")) == pytest.approx(sum(float(each.get("width", "0")) for each in fields))
    assert re.findall(r"https?:[^\"]+|href|url\((?!#)", text) == ["http://www.w3.org/2000/svg"]


def test_a_badge_names_a_selection(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It must not look like a verdict on the whole suite."""
    opconform("run", small_suite, "numpy", "--select", "VariadicSplit-1/accepted", "--out", tmp_path)
    texts = [each.text for each in ET.fromstring(written(opconform, tmp_path, "badge")).iter(f"{SVG}text")]

    assert texts == ["opconform", "conformant (selection), 4 of 4 cases supported"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Raises", "--csv", "-"], "Only the HTML report can show several runs. Name one run for the other formats."),
        (["--csv", "-", "--github"], "Only one format can go to standard output. Name a file for the others."),
        (["--csv", "known.txt/x"], "known.txt/x cannot be written: File exists. Name another file."),
    ],
)
def test_a_wrong_report_command_ends_with_2(opconform: Run, runs: Path, arguments: list[str], sentence: str) -> None:
    """And a sentence."""
    done = opconform("report", "Perfect", *arguments, cwd=runs, code=2)

    assert done.stderr == f"error: {sentence}\n"


def test_foreign_files_are_not_overwritten(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Not by any format; what an earlier report wrote is, and what is empty."""
    mine = tmp_path / "mine"
    for option in ("html", "junit", "markdown", "csv", "badge"):
        mine.write_text("my own words\n")
        done = opconform("report", runs / "Perfect", f"--{option}", mine, code=2)
        assert done.stderr == f"error: opconform did not write {mine} and does not overwrite it. Name another file.\n"
        assert mine.read_text() == "my own words\n"
        mine.write_text("")
        first = opconform("report", runs / "Perfect", f"--{option}", mine).stdout
        assert opconform("report", runs / "IsHostile", f"--{option}", mine).stdout == first
        assert first.endswith(f": {mine}\n")
        mine.unlink()


@pytest.mark.parametrize("option", ["html", "junit"])
def test_a_device_is_written_to_and_not_read(opconform: Run, runs: Path, option: str) -> None:
    """It has no end. In this process /dev/stdout would be pytest's file."""
    command = [sys.executable, "-m", "opconform", "report", str(runs / "Perfect"), f"--{option}", "/dev/stdout"]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    full = opconform("report", runs / "Perfect", f"--{option}", "/dev/full", code=1).stderr

    assert "opconform" in shown
    assert (
        full
        == "error: /dev/full cannot be written: No space left on device. Free some space, or use another location.\n"
    )


def test_one_format_can_go_to_standard_output(opconform: Run, runs: Path) -> None:
    """For the summary of a step, which is appended to."""
    assert opconform("report", runs / "Perfect", "--markdown", "-").stdout.startswith("## ✅ opconform: CONFORMANT")


def test_a_summary_steers_neither_a_terminal_nor_a_workflow(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a backend says is shown as text; in a GitHub workflow no line of it is taken for a command."""
    command = ("run", small_suite, "--backend", f"{MINIATURES}:IsHostile", "--out", tmp_path)
    plain = opconform(*command, code=1).stdout
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    first, *lines, last = opconform(*command, code=1).stdout.splitlines()

    assert "\x1b" in HOSTILE
    assert "\x1b" not in plain
    assert "::stop-commands::" not in plain
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert lines[-4].startswith("Results: ")
    assert not any(line.lstrip().startswith("::") for line in lines)


def test_text_is_spelt_out_where_it_is_not_shown() -> None:
    """Controls, surrogates and marks that turn the direction of text; letters of any script stay."""
    assert printable("naïve 数 \x07\ud800\u202e\x85") == "naïve 数 \\x07\\ud800\\u202e\\x85"
    assert printable("a\tb\r\nc", lines=True) == "a\tb\\r\nc"
    assert one_line(" a\n\n b\x00 ", 300) == "a b\\x00"
    assert one_line("abcdef", 4) == "abc…"
