"""The smallest part of a graph that still fails as the graph does, found by leaving out nodes."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from opconform.dialects import DIALECTS
from opconform.errors import HarnessError, SpecError, counted
from opconform.generation.options import Options
from opconform.generation.pipeline import write_suite
from opconform.generation.subgraph import (
    GoldenGraph,
    golden_graph,
    is_connected,
    subgraph_draft,
    subgraph_text,
)
from opconform.model.draft import Draft
from opconform.specs.group import Spec
from opconform.suite.case import Node
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry
from opconform.suite.reader import Suite, open_suite
from opconform.system.temporary import TemporaryFolder
from opconform_runners.execution.progress import OnProgress, Stage
from opconform_runners.execution.session import Session
from opconform_runners.findings.finding import Finding, Subgraph
from opconform_runners.findings.grouping import with_named_subgraphs
from opconform_runners.findings.report import Report
from opconform_runners.findings.symptom import symptom_of
from opconform_runners.harness.command import Launch
from opconform_runners.verdicts.neighbours import passes_alone
from opconform_runners.verdicts.results import Result

#: The digest of a spec that does not exist.
_NO_DIGEST = "0" * 64
#: Two nodes that pass alone are the smallest subgraph as they are.
_PAIR = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The most executions of the search in one graph, and the most seconds of the searches in all graphs of a run."""

    executions: int = 40
    seconds: float = 60.0


BUDGET = Budget()


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """A part of a graph that fails as the graph does: the suite that has it as a case, and its result."""

    suite: Suite
    entry: Entry
    result: Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Smallest:
    """The smallest part of a graph that was found to fail: the subgraph, and its case unless it is the whole graph."""

    subgraph: Subgraph
    cut: Cut | None


@dataclass(kw_only=True, slots=True)
class Search:
    """Searches for the smallest part of a graph that fails as the graph does.

    Attributes:
        session: Executes the parts.
        folder: An empty folder for their suites.
        until: The time (monotonic) after which no part is executed.
        executions: How many parts may be executed.
        least: The fewest nodes of a part; 2 where each node passes alone.
    """

    session: Session
    folder: Path
    until: float
    executions: int
    least: int = 2

    def smallest(self, suite: Suite, entry: Entry, failure: Result) -> Smallest | None:
        """Leave out nodes, from the outputs to the inputs, as long as the rest fails; None if there are no goldens.

        Raises:
            HarnessError: The harness cannot be started.
        """
        graph = golden_graph(suite, entry)
        if graph is None:
            return None
        nodes, cut, is_smaller, is_over = graph.nodes, None, True, False
        while is_smaller and not is_over:
            is_smaller = False
            for node in reversed(nodes):
                rest = tuple(x for x in nodes if x.name != node.name)
                if len(rest) < self.least or not is_connected(rest):
                    continue
                if is_over := self.executions == 0 or time.monotonic() >= self.until:
                    break
                if (found := self._executed(graph, rest, failure)) is not None:
                    nodes, cut, is_smaller = rest, found, True
        subgraph = Subgraph(
            case=entry.id,
            nodes=tuple(node.name for node in nodes),
            text=subgraph_text(nodes),
            of=len(graph.nodes),
            is_smallest=not is_over,
        )
        return Smallest(subgraph=subgraph, cut=cut)

    def _executed(self, graph: GoldenGraph, nodes: Sequence[Node], failure: Result) -> Cut | None:
        """Some nodes of a graph, if they fail as the graph does."""
        self.executions -= 1
        try:
            suite = _written(subgraph_draft(graph, nodes), self.folder / str(self.executions), graph.suite)
        except SpecError:  # what is left computes with rounded results
            return None
        [entry] = suite.entries
        files = {name: file for name, file in entry.files.items() if not name.startswith(f"{NEIGHBOUR_CHECK}/")}
        self.session.turn_to(suite)
        result = self.session.result_of(replace(entry, files=files))
        is_alike = result.verdict == "fail" and _kind(result) == _kind(failure)
        return Cut(suite=suite, entry=entry, result=result) if is_alike else None


def _written(draft: Draft, folder: Path, suite: Suite) -> Suite:
    """The suite of a part of a graph, in the dialects of the suite that has the graph."""
    dialects = tuple(name for name in suite.header.dialects if name in DIALECTS)
    specs = [Spec(file="subgraph", digest=_NO_DIGEST, op=draft.op, groups=())]
    return open_suite(write_suite([draft], specs, folder, Options(seed=suite.header.seed, dialects=dialects)).out)


def _kind(result: Result) -> tuple[str, str]:
    """What stays the same while a graph is cut: the reason, and the signal or the beginning of the message."""
    _, reason, message = symptom_of(result, "")
    return reason, message


def smallest_subgraph(
    suite: Suite, entry: Entry, failure: Result, launch: Launch, folder: Path, budget: Budget = BUDGET
) -> Smallest | None:
    """The smallest part, a single node where one fails alone, of a graph that fails; None if there are no goldens."""
    with closing(Session(suite, launch)) as session:
        until = time.monotonic() + budget.seconds
        search = Search(session=session, folder=folder, until=until, executions=budget.executions, least=1)
        return search.smallest(suite, entry, failure)


def with_subgraphs(
    report: Report, suite: Suite, launch: Launch, on_progress: OnProgress = lambda *_: None, budget: Budget = BUDGET
) -> Report:
    """A report whose findings of graphs name the smallest subgraph that still fails.

    It is searched in the first case of each finding of which every node passes alone, the worst finding first. A
    backend that no longer starts, a budget that is spent, and an interrupt end the search, since the run is complete
    without it.
    """
    results = {result.id: result for result in report.results if passes_alone(result.sentence)}
    chosen = [*dict.fromkeys(_cut_cases(report.findings, results, suite))]
    if not chosen:
        return report
    stage = Stage(on_progress, f"Cutting {counted(len(chosen), 'graph')}", len(chosen))
    until, subgraphs = time.monotonic() + budget.seconds, dict[str, Subgraph]()
    with (
        TemporaryFolder() as folder,
        closing(Session(suite, launch)) as session,
        suppress(HarnessError, KeyboardInterrupt),
    ):
        for case in chosen:
            place = Path(folder) / str(stage.done)
            search = Search(session=session, folder=place, until=until, executions=budget.executions)
            if (found := search.smallest(suite, suite.by_id[case], results[case])) is not None:
                subgraphs[case] = found.subgraph
            stage.step()
    return with_named_subgraphs(report, subgraphs.values())


def _cut_cases(findings: Iterable[Finding], results: Mapping[str, Result], suite: Suite) -> Iterator[str]:
    """The first case of each finding that is a graph of more than two nodes and has a result among some."""
    for finding in findings:
        graphs = (name for name in finding.cases if name in results and name in suite.by_id)
        yield from islice((x for x in graphs if len(suite.recent_case(suite.by_id[x]).graph.nodes) > _PAIR), 1)
