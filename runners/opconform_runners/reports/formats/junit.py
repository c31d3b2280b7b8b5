"""JUnit XML: one suite per operation, one test case per case, its requirements as properties."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping

from opconform.system.text import one_line, printable
from opconform_runners.findings.failures import Standing, standings
from opconform_runners.findings.report import Report
from opconform_runners.harness.outcome import Incident
from opconform_runners.reports.terminal.conclusion import conclusion, pass_sentences, stale_sentences
from opconform_runners.reports.terminal.incidents import incident_sentence
from opconform_runners.verdicts.results import Result

_LONGEST = 300
#: The most characters of a harness's log.
_LOG = 4000
#: The attribute of a suite that counts each outcome.
_COUNTS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit_text(report: Report) -> str:
    """A report as JUnit XML, in which each case is listed once.

    The properties of a case name the requirements that it is evidence for, and those that it breaks. An incomplete
    verdict and each missing case are errors in a suite of their own, and so are the stale lines of a baseline. So are
    incidents: a process that crashed or hung is a failure.
    """
    root = ET.Element("testsuites", name=printable(f"opconform {report.implementation.title}"))
    suites = list(_suites(report))
    root.extend(suites)
    for name in ("tests", *_COUNTS.values()):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", _total_time(suites))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suites(report: Report) -> Iterator[ET.Element]:
    verdict = {"conclusion": report.conclusion, "coverage": report.coverage}
    suite = f"{report.suite.version} {report.suite.digest}"
    about = {"backend": report.implementation.title, "suite": suite, **verdict}
    if report.conformant is None:
        open_cases = {"the verdict is complete": conclusion(report)[0]}
        open_cases |= dict.fromkeys(report.missing, "The case has no verdict: the run is incomplete.")
        yield _suite("run", [_case("opconform.run", *item, "error") for item in open_cases.items()], verdict)
    if report.incidents:
        yield _suite("incidents", [_incident_case(incident) for incident in report.incidents], verdict)
    for op in sorted({result.op for result in report.results}):
        yield _suite(op, list(_result_cases(report, op)), about)
    if report.baseline is not None and report.baseline.stale:
        lines = zip(report.baseline.stale, stale_sentences(report.baseline), strict=True)
        stale = [_case("opconform.baseline", line.pattern, reason, "failure", "stale") for line, reason in lines]
        yield _suite("baseline", stale, about)


def _suite(name: str, cases: list[ET.Element], about: Mapping[str, str]) -> ET.Element:
    outcomes = [x.tag for case in cases for x in case]
    counts = {attribute: str(outcomes.count(tag)) for tag, attribute in _COUNTS.items()}
    attributes = {"name": printable(name), "tests": str(len(cases)), **counts, "time": _total_time(cases)}
    suite = ET.Element("testsuite", attributes)
    suite.append(_properties(about.items()))
    suite.extend(cases)
    return suite


def _properties(named: Iterable[tuple[str, str]]) -> ET.Element:
    properties = ET.Element("properties")
    for name, value in named:
        ET.SubElement(properties, "property", name=name, value=printable(value))
    return properties


def _result_cases(report: Report, op: str) -> Iterator[ET.Element]:
    stands, baseline = standings(report), report.baseline
    texts = {row.id: row.text for row in report.requirements if row.op == op}
    expected = pass_sentences(baseline) if baseline is not None else {}
    for result in (result for result in report.results if result.op == op):
        standing = stands[result.id]
        tag, message, kind = _outcome(result, standing, expected.get(result.id, ""))
        case = _case(result.id.rpartition("/")[0].replace("/", "."), result.id, message, tag, kind)
        if standing in ("new", "error"):
            case[0].text = printable(_body(result, texts), lines=True)
        if result.seconds is not None:
            case.set("time", f"{result.seconds:.6f}")
        requirements = (("requirement", f"{op}:{requirement}") for requirement in result.requirements)
        broken = (("broken", f"{op}:{requirement}") for requirement in result.broken)
        case.insert(0, _properties((("profile", result.profile), *requirements, *broken)))
        yield case


def _outcome(result: Result, standing: Standing, expected: str) -> tuple[str, str, str]:
    """The outcome's element (empty for a pass), its message and its type; `expected` is from the baseline."""
    match standing:
        case "new":
            return "failure", result.sentence, result.reason or ""
        case "passes":
            return "failure", expected, "unexpected-pass"
        case "lost":
            return "failure", f"no longer supported: {result.sentence}", "unsupported"
        case "known":
            return "skipped", f"known failure ({result.reason}): {result.sentence}", ""
        case "read":
            return "skipped", f"interpretation difference, not counted ({result.reason}): {result.sentence}", ""
        case "error":
            return "error", result.sentence, "harness"
        case "skipped":
            return "skipped", f"{result.verdict}: {result.sentence}", ""
        case "pass":
            return "", "", ""


def _body(result: Result, texts: Mapping[str, str]) -> str:
    """All that is known of a result; `texts` has the requirements of its operation."""
    lines = (
        *(("expected", texts.get(name)) for name in result.broken),
        ("case", result.id),
        ("given", result.inputs),
        ("got", result.sentence),
        ("said", result.message),
        ("again", result.again),
        ("log", result.log[-_LOG:] if result.log else None),
    )
    return "\n".join(f"{name}: {x}" for name, x in lines if x)


def _incident_case(incident: Incident) -> ET.Element:
    """A failure where the process crashed or hung; an error that did not recur does not affect the verdict."""
    tag, kind = ("failure", incident.kind) if incident.is_death else ("skipped", "")
    case = _case("opconform.incidents", incident.cases[0], incident_sentence(incident), tag, kind)
    case[0].text = printable("\n".join((incident.sentence, *incident.cases)), lines=True)
    return case


def _case(classname: str, name: str, message: str, tag: str, kind: str = "") -> ET.Element:
    case = ET.Element("testcase", classname=printable(classname), name=printable(name), time="0.000000")
    if tag:
        outcome = ET.SubElement(case, tag, message=one_line(message, _LONGEST))
        if kind:
            outcome.set("type", printable(kind))
    return case


def _total_time(elements: Iterable[ET.Element]) -> str:
    return f"{sum(float(element.get('time', '0')) for element in elements):.6f}"
