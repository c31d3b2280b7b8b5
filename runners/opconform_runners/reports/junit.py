"""JUnit XML: a suite a requirement, in which each case stands that is evidence for it."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence

from opconform_runners.comparison import Met
from opconform_runners.novelty import pass_sentence, stale_sentences
from opconform_runners.printable import one_line, printable
from opconform_runners.report import Report
from opconform_runners.reports.standing import Standing, conclusion_text, standings
from opconform_runners.results import Result

_LONGEST = 300
#: How much of a harness's log is kept, in characters.
_LOG = 4000
_CASES = ("tests", "failures", "errors", "skipped")
_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit_text(report: Report) -> str:
    """A report as JUnit XML.

    A case stands in the suite of every requirement that it is evidence for, a failure in those that it breaks, so that
    a suite's counts are those of the requirement in `report.json`. What breaks or names none has a suite of its own. An
    incomplete run has a suite in which what is missing is an error.
    """
    root = ET.Element("testsuites", name=printable(f"opconform {report.implementation.title}"))
    suites = [*_run_suite(report), *_requirement_suites(report), *_baseline_suite(report)]
    root.extend(suites)
    for each in _CASES:
        root.set(each, str(sum(int(suite.get(each, "0")) for suite in suites)))
    root.set("time", _seconds(sum(float(suite.get("time", "0")) for suite in suites)))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _run_suite(report: Report) -> Iterator[ET.Element]:
    """What the run itself came to, where it is incomplete."""
    if report.conformant is not None:
        return
    whole = _case("opconform.run", "the run is complete", 0.0)
    _outcome(whole, "error", conclusion_text(report)[0])
    missing = [_case("opconform.run", each, 0.0) for each in report.missing]
    for each in missing:
        _outcome(each, "error", "The case has no verdict: the run is incomplete.")
    yield _suite("run", [whole, *missing], {"conclusion": report.conclusion})


def _requirement_suites(report: Report) -> Iterator[ET.Element]:
    stands = standings(report)
    met = report.baseline.by_id if report.baseline is not None else {}
    homes: dict[tuple[str, str], list[Result]] = {(row.op, row.id): [] for row in report.requirements}
    for result in report.results:
        named = result.broken if result.verdict == "fail" else result.requirements
        for name in named or ("",):
            homes.setdefault((result.op, name), []).append(result)
    levels = {(row.op, row.id): row for row in report.requirements}
    for (op, name), results in homes.items():
        if results:
            row = levels.get((op, name))
            about = {"level": row.level, "requirement": row.text} if row is not None else {}
            texts = {row.id: row.text for row in report.requirements if row.op == op}
            cases = [
                _result_case(report, f"{op}.{name}".rstrip("."), each, stands[each.id], met, _body(each, texts))
                for each in results
            ]
            yield _suite(f"{op} {name or 'no requirement named'}", cases, {**_about(report), **about})


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
    }


def _suite(name: str, cases: Sequence[ET.Element], about: Mapping[str, str]) -> ET.Element:
    outcomes = [each.tag for case in cases for each in case if each.tag in _COUNTED]
    counts = {_COUNTED[tag]: str(outcomes.count(tag)) for tag in _COUNTED}
    seconds = _seconds(sum(float(each.get("time", "0")) for each in cases))
    suite = ET.Element("testsuite", {"name": printable(name), "tests": str(len(cases)), **counts, "time": seconds})
    properties = ET.SubElement(suite, "properties")
    for key, value in about.items():
        ET.SubElement(properties, "property", name=key, value=printable(value))
    suite.extend(cases)
    return suite


def _result_case(
    report: Report, classname: str, result: Result, standing: Standing, met: Mapping[str, Met], body: str
) -> ET.Element:
    case = _case(classname, result.id, result.seconds or 0.0)
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
