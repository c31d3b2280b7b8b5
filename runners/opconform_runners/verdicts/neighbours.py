"""Neighbour checks: whether the graph around the operation under test is at fault."""

from dataclasses import replace

from opconform.suite.case import Case, Node
from opconform.suite.manifest import Entry
from opconform_runners.harness.outcome import Error
from opconform_runners.verdicts.comparison import output_number
from opconform_runners.verdicts.judge import ENDS, has_ended
from opconform_runners.verdicts.verdict import (
    Fail,
    Inconclusive,
    Own,
    Pass,
    Unsupported,
    Verdict,
    failure_of,
    sentence_of,
)

#: How the sentence ends on a graph that fails, although its nodes do not.
EACH_ALONE = "each of its operations passes alone"
#: The words after a node of a graph whose operation is at fault.
FAILS_ALONE = "fails alone"


def neighbour_check_due(entry: Entry, case: Case, verdict: Verdict) -> Entry | None:
    """The neighbour check of a case that failed, where the neighbour of the node under test may be at fault.

    None where there is no neighbour check, or where the wrong output is one of the node under test itself and no
    other node computes an input of it.
    """
    failure = failure_of(verdict)
    if failure is None or entry.neighbour_check is None:
        return None
    if case.tests_graph:
        return entry.neighbour_check
    tested = [node for node in case.graph.nodes if node.under_test]
    computed = {name for node in case.graph.nodes if not node.under_test for name in node.outputs}
    if any(computed.intersection(node.inputs) for node in tested):
        return entry.neighbour_check
    if failure.mismatch is not None and failure.mismatch.output is not None:
        number = output_number(failure.mismatch.output)
        if any(name in node.outputs for name in case.graph.outputs[number : number + 1] for node in tested):
            return None
    return entry.neighbour_check


def _with_nodes_alone(case: Case, verdict: Verdict, nodes: Own) -> Verdict:
    """The verdict of a graph that failed, given the verdict of its nodes side by side."""
    if not isinstance(verdict, Fail):
        return verdict
    failed = verdict.sentence.rstrip(".")
    match nodes:
        case Pass():
            return replace(verdict, sentence=f"{failed}; {EACH_ALONE}")
        case Fail(reason=reason, sentence=sentence) if reason in ENDS or not has_ended(verdict):
            which = _failing_node(case, nodes)
            return replace(verdict, sentence=f"{failed}; {which}, too: {sentence}", node_fails=True)
        case Unsupported(why=why) | Error(sentence=why):
            return replace(verdict, sentence=f"{failed}; its operations alone have no verdict: {why}")
        case _:
            return verdict


def _failing_node(case: Case, nodes: Fail) -> str:
    """The node whose output is wrong, if one is; the nodes side by side have their outputs in order."""
    makers = [node for node in case.graph.nodes for _ in node.outputs]
    number = output_number(nodes.mismatch.output) if nodes.mismatch and nodes.mismatch.output is not None else None
    if number is None or number >= len(makers):
        return f"one of its operations {FAILS_ALONE}"
    return alone_text(makers[number])


def alone_text(node: Node) -> str:
    """The words that name a node that fails alone, as in `Add-1 (sum) fails alone`."""
    return f"{node.op} ({node.name}) {FAILS_ALONE}"


def with_neighbour_check(case: Case, verdict: Verdict, neighbour_check: Own) -> Verdict:
    """The verdict of a case that failed, given the verdict of its neighbour check: inconclusive where that fails, too.

    A crash or a timeout is excused only by a neighbour check that also crashes or times out. A graph under test still
    fails, but by one of its nodes.
    """
    if case.tests_graph:
        return _with_nodes_alone(case, verdict, neighbour_check)
    without = f"the neighbour check, the same graph without {case.op},"
    neighbours = dict.fromkeys(node.op for node in case.graph.nodes if not node.under_test and node.inputs)
    match neighbour_check:
        case Fail(reason=reason, sentence=sentence) if reason in ENDS or not has_ended(verdict):
            failure = f"{without} fails too: its {', '.join(neighbours)}: {sentence}"
            return Inconclusive(why=f"{sentence_of(verdict)}; {failure}")
        case Unsupported(why=why) | Error(sentence=why) if isinstance(verdict, Fail):
            return replace(verdict, sentence=f"{verdict.sentence}; {without} has no verdict: {why}")
        case _:
            return verdict
