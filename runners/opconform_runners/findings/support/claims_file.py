"""The file of claims, `support.yaml`: what a backend's maker says that it supports. It is made to be reviewed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from opconform.errors import UsageError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.system.files import FileTooLargeError, read_regular
from opconform_runners.backends.backend import Implementation
from opconform_runners.findings.accuracy import Accuracy
from opconform_runners.findings.causes.fact import Fact
from opconform_runners.findings.report import Report
from opconform_runners.findings.support.claims_parser import ClaimsParser
from opconform_runners.findings.support.learner import Support
from opconform_runners.findings.support.rules import Rule, facts_of_entry
from opconform_runners.verdicts.accuracy_level import MetLevel
from opconform_runners.verdicts.claims import Claims
from opconform_runners.verdicts.run_header import RunHeader

#: The most bytes of a file, and the most mistakes that are reported.
_LIMIT = 1 << 20
_MISTAKES = 20
#: The beginning of a file that opconform wrote.
MARK = b"# All valid cases of"
_HEAD = (
    "# All valid cases of the supported operations, without those that a rule or an id below names (docs/support.md).\n"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimsFile:
    """The contents of a file of claims.

    Attributes:
        backend: The backend, as in `openvino on CPU`.
        suite: The version of the suite from which it was learnt.
        supported: The operations.
        rules: Which of their cases are not supported.
        cases: The ids of further cases that are not supported.
        accuracy: The accuracy level of each operation that rounds, by element type.
        written: The file as it was read; empty for claims that were learnt.
    """

    backend: str
    suite: str
    supported: tuple[str, ...]
    rules: tuple[Rule, ...]
    cases: tuple[str, ...]
    accuracy: Mapping[str, Mapping[str, MetLevel]] = field(default_factory=dict)
    written: str = ""

    @property
    def text(self) -> str:
        """The file: one line per operation, rule and case, sorted."""
        exceptions = [*map(_line, self.rules), *map(_scalar, self.cases)]
        head = (f"backend: {_scalar(self.backend)}\n", f"suite: {_scalar(self.suite)}\n")
        levels = [f"{op}: {', '.join(' '.join(x) for x in sorted(self.accuracy[op].items()))}" for op in self.accuracy]
        body = (*_list("supported", self.supported), *_list("unsupported", exceptions))
        return "".join((_HEAD, *head, *body, *(_list("accuracy", levels) if levels else ())))

    def covers(self, suite: Suite, entry: Entry) -> bool:
        """Whether a valid case of a suite is claimed."""
        if entry.op not in self.supported or entry.id in self.cases:
            return False
        rules = [rule for rule in self.rules if rule.is_about(entry.op)]
        facts = facts_of_entry(suite, entry) if rules else frozenset[Fact]()
        return not any(rule.meets(entry.op, facts) for rule in rules)


def _list(key: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"{key}:\n" if lines else f"{key}: []\n"
    yield from (f"- {line}\n" for line in sorted(lines))


def _line(rule: Rule) -> str:
    return f"{rule.subject}: {_scalar(rule.words)}"


def _scalar(text: str) -> str:
    """A text as YAML on one line."""
    return yaml.safe_dump(text, width=float("inf"), allow_unicode=True).removesuffix("...\n").strip()


def claims_file_of(report: Report, support: Support) -> ClaimsFile:
    """The claims that state what a run shows: no case of it contradicts them."""
    return ClaimsFile(
        backend=backend_of(report.implementation),
        suite=report.suite.version,
        supported=tuple(support.supported),
        rules=tuple(learnt_rule.rule for learnt_rule in support.rules),
        cases=support.cases,
        accuracy={op: levels for op, accuracies in report.accuracy.items() if (levels := _claimable(accuracies))},
    )


def _claimable(accuracies: Mapping[str, Accuracy]) -> dict[str, MetLevel]:
    """The levels of an operation that can be claimed.

    `correctly-rounded` is claimed by hand alone: a few cases do not show it, and threads may add in another order.
    """
    met = {name: accuracy.level for name, accuracy in accuracies.items() if accuracy.level != "none"}
    return {name: "bounded" if level == "correctly-rounded" else level for name, level in met.items()}


def backend_of(implementation: Implementation) -> str:
    """A backend without its version, as in `openvino on CPU`."""
    device = f" on {implementation.device}" if implementation.device else ""
    return f"{implementation.name}{device}"


def notes_on(file: ClaimsFile, name: str, backend: str, version: str) -> Iterator[str]:
    """What is said where a file of claims, of that name, is of another backend or of another version of the suite."""
    advice = "Learn them again with `run --update-claims`, and look at what changed."
    if file.backend != backend:
        yield f"{name} claims what {file.backend} supports, and this is {backend}. {advice}"
    if file.suite != version:
        yield f"{name} is from version {file.suite} of the suite, and this is {version}. {advice}"


def read_claims(path: Path) -> ClaimsFile:
    """The claims in a file; a UsageError with one line per mistake."""
    try:
        text = read_regular(path, _LIMIT, follow_links=True).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"Claims not found: {path}. Write them with `opconform support RESULTS -o {path}`.") from error
    except FileTooLargeError as error:
        raise UsageError(f"{path} has more than {_LIMIT:,} bytes. Use rules that cover several cases.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8. Save the file as UTF-8.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    return parse_claims(text, str(path))


def parse_claims(text: str, file: str) -> ClaimsFile:
    """The claims in a text; a UsageError with one line per mistake."""
    parser = ClaimsParser(text)
    if parser.mistakes:
        mistakes = [f"{file}:{line}:{column}: {sentence}" for line, column, sentence in sorted(parser.mistakes)]
        others = len(mistakes) - _MISTAKES
        raise UsageError("\n".join([*mistakes[:_MISTAKES], *([f"… and {others:,} more."] if others > 0 else [])]))
    return ClaimsFile(
        backend=parser.backend,
        suite=parser.suite,
        supported=tuple(parser.supported),
        rules=tuple(parser.rules),
        cases=tuple(parser.cases),
        accuracy=parser.accuracy,
        written=text,
    )


def claims_of(file: ClaimsFile) -> Claims:
    """What a file claims, for the judgement of cases."""
    known: dict[str, bool] = {}

    def covers(suite: Suite, entry: Entry) -> bool:
        if entry.id not in known:
            known[entry.id] = file.covers(suite, entry)
        return known[entry.id]

    return Claims(text=file.written or file.text, covers=covers, accuracy=file.accuracy)


def claims_in(header: RunHeader) -> Claims | None:
    """The claims of a run, or None if it has none."""
    return None if header.claims is None else claims_of(parse_claims(header.claims, "The claims of the run"))
