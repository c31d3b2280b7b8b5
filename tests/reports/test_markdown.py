"""Markdown, annotations and badges: what they say, and that hostile words stay words."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import junitparser
import pytest
from markdown_it import MarkdownIt

from opconform.system.text import one_line
from opconform_runners.reports.formats.markdown import LONGEST, markdown_text
from tests.conftest import MINIATURES, Run
from tests.miniatures import HOSTILE
from tests.reports.conftest import ACCEPTED, REJECTED, written
from tests.reports.test_coverage import report, result


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
        "\n### Stale lines\n\n- <code>known.txt&#58;3&#58; no case of the suite matches 'Split-1/&#42;' and can fail with value</code>\n"
        in text
    )
    assert text.index("### Regressions") < text.index("### Known failures") < text.index("<details>")
    assert "\n| ❌ <code>VariadicSplit-1 data.bits</code> | normative | 0 | 4 | 0 | 0 | 0 |\n" in text


def test_markdown_has_a_row_per_operation(opconform: Run, runs: Path) -> None:
    """Folded, after the failures: the cases by verdict, and a mark."""
    text = written(opconform, runs / "LosesNegativeZero", "markdown")
    operations = text[text.index("<details><summary>1 operation</summary>") :]

    assert operations.startswith(
        "<details><summary>1 operation</summary>\n\n"
        "| operation | pass | fail | unsupported | inconclusive | error |\n|---|---:|---:|---:|---:|---:|\n"
        "| ❌ <code>VariadicSplit-1</code> | 2 | 4 | 0 | 0 | 0 |\n\n</details>\n"
    )
    assert text.index("### Failures") < text.index("<details>")


def test_many_failures_leave_room_for_the_operations() -> None:
    """The failures are cut, and the table of operations is whole."""
    ops = [f"Operation{number:03}-1" for number in range(400)]
    failure = replace(result(2, "fail", "axis.range", broken=("axis.range",)), sentence="it differs " * 20)
    results = [replace(failure, id=f"{op}/group/0123456789") for op in ops]
    notes = {op: report().notes["Split-1"] for op in ops}
    text = markdown_text(replace(report(*results), notes=notes))

    assert len(text) <= LONGEST
    assert text.count("| ❌ <code>Operation") >= len(ops)
    assert "The rest does not fit here; see the report." in text


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
        "no case of the suite matches 'Split-1/*' and can fail with value"
    )
    assert lines[2].startswith(
        "::error title=opconform%3A VariadicSplit-1 data.bits%3A wrong data (value)::3 of its 4 cases, such as "
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
