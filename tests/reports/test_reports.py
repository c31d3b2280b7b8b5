"""Reports in other formats: each is read back, says what `report.json` says, and treats a backend's messages as text."""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import junitparser
import pytest
from markdown_it import MarkdownIt

from opconform_runners.reports.report_file import read_report, write_report
from opconform_runners.verdicts.text import one_line, printable
from tests.conftest import MINIATURES, Run, interrupted
from tests.miniatures import HOSTILE
from tests.result_files import report_in

REJECTED = "VariadicSplit-1/rejected/edf4e822b0"
TWIN = "VariadicSplit-1/rejected/c8611d2f32"
ACCEPTED = [f"VariadicSplit-1/accepted/{name}" for name in ("055b3aac7f", "9c3891e153", "ddf616bfdd", "f7298254ae")]


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
    left = tuple(result for result in perfect.results if result.id != REJECTED)
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
    assert parsed.tests == sum(len(hit) for hit in found.values())
    return found


def test_junit_has_one_test_case_per_case(opconform: Run, runs: Path) -> None:
    """Its counts are those of `report.json`, and a failure says what is expected."""
    text = written(opconform, runs / "LosesNegativeZero", "junit")
    root = ET.fromstring(text.encode())
    bodies = [letter.text or "" for letter in root.iter("failure")]
    report = report_in(runs / "LosesNegativeZero")
    text_of_bits = report["requirements"]["VariadicSplit-1"]["data.bits"]["text"]

    assert suites(text) == {
        "VariadicSplit-1": {**dict.fromkeys(ACCEPTED, "Failure"), TWIN: "Passed", REJECTED: "Passed"}
    }
    assert int(root.get("tests", "")) == len(report["cases"])
    assert [body.splitlines()[:2] for body in bodies] == [
        [f"expected: {text_of_bits}", f"case: {case}"] for case in ACCEPTED
    ]


def test_junit_names_requirements_as_properties_of_a_case(opconform: Run, runs: Path) -> None:
    """Those that it is evidence for, and those that it breaks, with their operation."""
    root = ET.fromstring(written(opconform, runs / "LosesNegativeZero", "junit").encode())
    cases = {letter.get("name"): letter for letter in root.iter("testcase")}
    failed, passed = (
        [(letter.get("name"), letter.get("value")) for letter in cases[case].iter("property")]
        for case in (ACCEPTED[0], TWIN)
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
    assert 'message="known failure (value): output_0[0, 1]: expected -0.0' in known
    assert f'message="{REJECTED} passes, and known.txt:1 expects accepted-invalid"' in known
    assert {x: nans["VariadicSplit-1"][x] for x in ACCEPTED} == dict.fromkeys(ACCEPTED, "Skipped")
    assert (refused["VariadicSplit-1"][TWIN], refused["VariadicSplit-1"][REJECTED]) == ("Failure", "Skipped")


def test_junit_of_a_conformant_backend_has_no_failure(opconform: Run, runs: Path) -> None:
    """Every case passes."""
    found = suites(written(opconform, runs / "Perfect", "junit"))

    assert {case for cases in found.values() for case in cases.values()} == {"Passed"}


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
    badge = written(opconform, runs / name, "badge", code=1)
    annotations = opconform("report", runs / name, "--github", code=1).stdout

    assert suites(junit)["run"]["the verdict is complete"] == "Error"
    assert f'message="{verdict}"' in junit
    assert markdown.startswith("## ⚠️ opconform: INCOMPLETE")
    assert verdict.replace(":", "&#58;") in markdown
    coverage = "2 of 2" if name == "killed" else "5 of 6"
    assert json.loads(badge)["message"] == f"incomplete, {coverage} cases supported"
    assert annotations.splitlines()[0] == f"::error title=opconform%3A incomplete::{verdict}"
    for item in (junit, markdown, badge, annotations):
        assert "conformant" not in item.replace('value="conformant"', "").lower()


def test_a_missing_case_is_named(opconform: Run, runs: Path) -> None:
    """As an error in JUnit."""
    found = suites(written(opconform, runs / "gave-up", "junit", code=1))

    assert found["run"][REJECTED] == "Error"


def test_what_does_not_belong_together_is_refused(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Changed results, a report of another run, and no results; nothing is written."""
    source, run = runs / "LosesNegativeZero", tmp_path / "run"
    sentences = []

    def refused(code: int = 1) -> None:
        done = opconform("report", "run", "--junit", "x.xml", cwd=tmp_path, code=code)
        sentences.append(done.stderr)

    refused(2)
    shutil.copytree(source, run)
    (run / "results.jsonl").write_text((source / "results.jsonl").read_text().replace('"value"', '"shape"'))
    refused()
    shutil.copy(source / "results.jsonl", run)
    shutil.copy(runs / "Perfect" / "report.json", run)
    refused()

    assert sentences == [
        "error: Results not found: run. Write them with `opconform run` or `opconform certify`.\n",
        "error: run/results.jsonl was changed after the run. Repeat the run.\n",
        "error: run/report.json does not match run/results.jsonl: it was changed, or is of another run. Repeat the run.\n",
    ]
    assert not (tmp_path / "x.xml").exists()


def test_hostile_words_stay_words(opconform: Run, runs: Path) -> None:
    """XML parses, no command is injected, and Markdown holds no tag, mention, link or new line."""
    junit = written(opconform, runs / "IsHostile", "junit")
    markdown = written(opconform, runs / "IsHostile", "markdown")
    annotations = opconform("report", runs / "IsHostile", "--github").stdout
    [failure] = [x for x in junitparser.JUnitXml.fromstring(junit.encode()) if x.failures]
    [message] = [case.result[0].message for case in failure if case.result]

    assert message.startswith(
        "rejected at build time, although it is valid: =1+1 \\x00\\x1b[31m]]>&amp;<b onload=x>\\ufffe\\u202e "
        "::error title=x::injected | `a` | @everyone"
    )
    assert all(line.startswith(("::error title=", "::notice title=")) for line in annotations.splitlines())
    assert len(annotations.splitlines()) == 2
    text = re.sub(r"</?(code|details|summary)>", "", markdown)
    for name in ("<", ">", "@", "`", "https:", "\x1b", "\x00", "_"):
        assert name not in text
    assert [line.count("|") for line in markdown.splitlines() if "rejected-valid" in line] == [8]


def test_hostile_words_are_rendered_as_they_are(opconform: Run, runs: Path) -> None:
    """A renderer that allows HTML sees the texts of the table's cells, and no tag of the backend's."""
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(written(opconform, runs / "IsHostile", "markdown"))
    )
    [row] = [
        letter
        for letter in ET.fromstring(f"<page>{html}</page>").iter("tr")
        if "rejected-valid" in "".join(letter.itertext())
    ]
    cells = ["".join(cell.itertext()) for cell in row]

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
        f"\n### Unexpected passes\n\n- <code>{REJECTED} passes, and known.txt&#58;1 expects accepted-invalid</code>\n"
        in text
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
            "VariadicSplit-1/accepted/*  value  # zeros",
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
        "accepted-invalid"
    )
    assert lines[1] == (
        "::error file=known.txt,line=3,title=opconform%3A stale line::known.txt:3: "
        "no case of the suite that matches 'Split-1/*' can fail with value"
    )
    assert lines[2].startswith(
        "::error title=opconform%3A VariadicSplit-1 data.bits%3A wrong data (value)::3 cases, such as "
    )
    assert lines[3:] == ["::notice title=opconform%3A known failures::1 known failure."]


def test_a_badge_is_what_shields_io_reads(opconform: Run, runs: Path) -> None:
    """The keys of its endpoint badge."""
    assert json.loads(written(opconform, runs / "Perfect", "badge")) == {
        "schemaVersion": 1,
        "label": "opconform",
        "message": "conformant, 6 of 6 cases supported",
        "color": "brightgreen",
    }


def test_a_badge_names_a_selection(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It must not look like a verdict on the whole suite."""
    opconform("run", small_suite, "numpy", "--select", "VariadicSplit-1/accepted", "--out", tmp_path)
    badge = json.loads(written(opconform, tmp_path, "badge"))

    assert badge["message"] == "conformant (selection), 4 of 4 cases supported"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Raises", "--junit", "-"], "Only the HTML report can show several runs. Name one run for the other formats."),
        (["--junit", "-", "--github"], "Only one format can go to standard output. Name a file for the others."),
        (["--junit", "known.txt/x"], "known.txt/x cannot be written: File exists. Name another file."),
    ],
)
def test_a_wrong_report_command_ends_with_2(opconform: Run, runs: Path, arguments: list[str], sentence: str) -> None:
    """And a sentence."""
    done = opconform("report", "Perfect", *arguments, cwd=runs, code=2)

    assert done.stderr == f"error: {sentence}\n"


def test_foreign_files_are_not_overwritten(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Not by any format; what an earlier report wrote is, and what is empty."""
    mine = tmp_path / "mine"
    for option in ("html", "junit", "markdown", "badge"):
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
