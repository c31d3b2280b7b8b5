"""JUnit XML: one suite per operation and one test case per case, with its requirements as properties."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence

from opconform_runners.reports.formats.standing import Standing, conclusion_text, standings
from opconform_runners.reports.novelty import pass_sentence, stale_sentences
from opconform_runners.reports.printable import one_line, printable
from opconform_runners.reports.report import Report
from opconform_runners.verdicts.baseline_check import Met
from opconform_runners.verdicts.results import Result

_LONGEST = 300
#: How much of a harness's log is kept, in characters.
_LOG = 4000
_CASES = ("tests", "failures", "errors", "skipped")
_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit_text(report: Report) -> str:
    """A report as JUnit XML.

    Each case stands there once, so that the counts are those of `report.json`. Its properties name the requirements
    that it is evidence for, and those that it breaks. An incomplete verdict is an error in a suite of its own, with
    each case that is missing.
    """
    root = ET.Element("testsuites", name=printable(f"opconform {report.implementation.title}"))
    suites = [*_run_suite(report), *_operation_suites(report), *_baseline_suite(report)]
    root.extend(suites)
    for each in _CASES:
        root.set(each, str(sum(int(suite.get(each, "0")) for suite in suites)))
    root.set("time", _seconds(sum(float(suite.get("time", "0")) for suite in suites)))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _run_suite(report: Report) -> Iterator[ET.Element]:
    """What the run itself came to, where its verdict is incomplete."""
    if report.conformant is not None:
        return
    whole = _case("opconform.run", "the verdict is complete", 0.0)
    _outcome(whole, "error", conclusion_text(report)[0])
    missing = [_case("opconform.run", each, 0.0) for each in report.missing]
    for each in missing:
        _outcome(each, "error", "The case has no verdict: the run is incomplete.")
    yield _suite("run", [whole, *missing], {"conclusion": report.conclusion, "coverage": report.coverage})


def _operation_suites(report: Report) -> Iterator[ET.Element]:
    """One suite per operation, in which each of its cases stands once."""
    stands = standings(report)
    met = report.baseline.by_id if report.baseline is not None else {}
    for op in sorted({each.op for each in report.results}):
        texts = {row.id: row.text for row in report.requirements if row.op == op}
        cases = [
            _result_case(report, each, stands[each.id], met, _body(each, texts))
            for each in report.results
            if each.op == op
        ]
        yield _suite(op, cases, _about(report))


def _baseline_suite(report: Report) -> Iterator[ET.Element]:
    """The lines of a baseline that are about no case."""
    if report.baseline is None or not report.baseline.stale:
        return
    cases = []
    for line, sentence in zip(report.baseline.stale, stale_sentences(report.baseline), strict=True):
        case = _case("opconform.baseline", line.pattern, 0.0)
        _outcome(case, "failure", sentence, kind="stale")
        cases.append(case)
    yield _suite("baseline", cases, _about(report))


def _about(report: Report) -> Mapping[str, str]:
    return {
        "backend": report.implementation.title,
        "suite": f"{report.suite.version} {report.suite.digest}",
        "conclusion": report.conclusion,
        "coverage": report.coverage,
    }


def _suite(name: str, cases: Sequence[ET.Element], about: Mapping[str, str]) -> ET.Element:
    outcomes = [each.tag for case in cases for each in case if each.tag in _COUNTED]
    counts = {_COUNTED[tag]: str(outcomes.count(tag)) for tag in _COUNTED}
    seconds = _seconds(sum(float(each.get("time", "0")) for each in cases))
    suite = ET.Element("testsuite", {"name": printable(name), "tests": str(len(cases)), **counts, "time": seconds})
    _add_properties(suite, about.items())
    suite.extend(cases)
    return suite


def _add_properties(element: ET.Element, named: Iterable[tuple[str, str]]) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in named:
        ET.SubElement(properties, "property", name=name, value=printable(value))


def _result_case(report: Report, result: Result, standing: Standing, met: Mapping[str, Met], body: str) -> ET.Element:
    case = _case(result.id.rpartition("/")[0].replace("/", "."), result.id, result.seconds or 0.0)
    requirements = (("requirement", f"{result.op}:{each}") for each in result.requirements)
    broken = (("broken", f"{result.op}:{each}") for each in result.broken)
    _add_properties(case, (("profile", result.profile), *requirements, *broken))
    match standing:
        case "new":
            _outcome(case, "failure", result.sentence, kind=result.reason or "", body=body)
        case "passes" if report.baseline is not None:
            _outcome(case, "failure", pass_sentence(met[result.id], report.baseline.file), kind="unexpected-pass")
        case "known":
            line = met[result.id].line
            _outcome(case, "skipped", f"known failure ({result.reason}): {line.note if line else ''}")
        case "read":
            _outcome(case, "skipped", f"read otherwise, and not counted ({result.reason}): {result.sentence}")
        case "error":
            _outcome(case, "error", result.sentence, kind="harness", body=body)
        case "skipped":
            _outcome(case, "skipped", f"{result.verdict}: {result.sentence}")
        case _:
            pass
    return case


def _body(result: Result, texts: Mapping[str, str]) -> str:
    """All there is of a result; `texts` holds what each requirement of its operation demands."""
    lines = (
        *(("demanded", texts.get(name)) for name in result.broken),
        ("case", result.id),
        ("given", result.inputs),
        ("got", result.sentence),
        ("said", result.message),
        ("again", result.again),
        ("log", result.log[-_LOG:] if result.log else None),
    )
    return "\n".join(f"{name}: {each}" for name, each in lines if each)


def _case(classname: str, name: str, seconds: float) -> ET.Element:
    return ET.Element("testcase", classname=printable(classname), name=printable(name), time=_seconds(seconds))


def _outcome(case: ET.Element, tag: str, message: str, *, kind: str = "", body: str = "") -> None:
    outcome = ET.SubElement(case, tag, message=one_line(message, _LONGEST))
    if kind:
        outcome.set("type", printable(kind))
    if body:
        outcome.text = printable(body, lines=True)


def _seconds(seconds: float) -> str:
    return f"{seconds:.6f}"
