"""Neighbour checks: whether the graph around the operation under test is at fault."""

from dataclasses import replace

from opconform.suite.case import Case, Graph, Node
from opconform.suite.manifest import Entry
from opconform_runners.harness.outcome import Error
from opconform_runners.verdicts.comparison import SLIGHT, Mismatch, output_number
from opconform_runners.verdicts.graph_outputs import reading_text
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

#: How the sentence ends on a graph that fails, although no node explains it.
_PASSES = "passes alone"
_NONE_REJECTED = "none of its operations is rejected alone"
#: How the sentence goes on behind a node that explains the failure of its graph.
_FAILS = "fails alone, too"
_READS = "alone follows another reading of"
_IS_LESS_ACCURATE = "is less accurate alone, too"


def passes_alone(sentence: str) -> bool:
    """Whether the sentence on a graph that fails says that its nodes do not."""
    return sentence.endswith((_PASSES, _NONE_REJECTED))


def deviates_alone(sentence: str, node: Node | None = None) -> bool:
    """Whether the sentence on a graph that fails says that a node does, too: this one, or any."""
    where = "" if node is None else f"; {_text(node)}"
    return any(f"{where} {how}" in sentence for how in (_FAILS, _READS, _IS_LESS_ACCURATE))


def _text(node: Node) -> str:
    return f"{node.op} ({node.name})"


def neighbour_check_due(entry: Entry, case: Case, verdict: Verdict) -> Entry | None:
    """The neighbour check of a case that failed, where the neighbour of the node under test may be at fault.

    None where there is no neighbour check, or where the wrong output is one of the node under test itself and no
    other node computes an input of it.
    """
    failure = failure_of(verdict)
    if failure is None or entry.neighbour_check is None:
        return None
    if case.tests_graph:
        is_read = failure.mismatch is not None and failure.mismatch.readings
        return None if is_read else entry.neighbour_check
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
    if not isinstance(verdict, Fail) or (verdict.mismatch is not None and verdict.mismatch.readings):
        return verdict
    failed = verdict.sentence.rstrip(".")
    match nodes:
        case Pass():
            return replace(verdict, sentence=f"{failed}; each of its operations {_PASSES}")
        case Fail() if _by_output(verdict) and _by_output(nodes):
            return _compared_with_nodes(case, verdict, nodes)
        case Fail(outputs=outputs) if outputs and verdict.reason == "rejected-valid":
            return replace(verdict, sentence=f"{failed}; {_NONE_REJECTED}")
        case Fail(reason="rejected-valid", sentence=why) if verdict.outputs:
            return replace(verdict, sentence=f"{failed}; its operations alone have no verdict: {why}")
        case Fail(reason=reason, sentence=sentence) if reason in ENDS or not has_ended(verdict):
            return replace(verdict, sentence=f"{failed}; one of its operations {_FAILS}: {sentence}", node_fails=True)
        case Unsupported(why=why) | Error(sentence=why):
            return replace(verdict, sentence=f"{failed}; its operations alone have no verdict: {why}")
        case _:
            return verdict


def _compared_with_nodes(case: Case, verdict: Fail, nodes: Fail) -> Fail:
    """The verdict of a graph with wrong outputs: by a node if each of them follows from a node that deviates alone.

    Outputs that other readings give, and results that are nearly right beside wrong ones, need no node.
    """
    failed, makers = verdict.sentence.rstrip("."), [node for node in case.graph.nodes for _ in node.outputs]
    deviating = {makers[_number(x)].name: x for x in reversed(nodes.outputs) if _number(x) < len(makers)}
    wrong = [x for x in verdict.outputs if not x.readings and x.reason not in SLIGHT] or verdict.outputs
    blamed: dict[str, Mismatch] = {}
    for mismatch in wrong:
        before = _nodes_before(case.graph, case.graph.outputs[_number(mismatch)])
        found = {name: x for name, x in deviating.items() if name in before}
        if not found:
            which = "each of its operations" if len(deviating) == 0 else f"each operation before {mismatch.output}"
            return replace(verdict, sentence=f"{failed}; {which} {_PASSES}")
        blamed |= found
    node = min((x for x in case.graph.nodes if x.name in blamed), key=lambda x: _weight(blamed[x.name]))
    deviation = blamed[node.name]
    how = _FAILS
    if deviation.readings:
        how = f"{_READS} {', '.join(map(reading_text, deviation.readings))}"
    elif deviation.reason in SLIGHT:
        how = _IS_LESS_ACCURATE
    sentence = f"{failed}; {_text(node)} {how}: {deviation.sentence}"
    return replace(verdict, sentence=sentence, node_fails=True)


def _by_output(verdict: Fail) -> bool:
    """Whether it is known which outputs differ: there are as many as expected."""
    return bool(verdict.outputs) and all(x.output is not None for x in verdict.outputs)


def _number(mismatch: Mismatch) -> int:
    return output_number(str(mismatch.output))


def _weight(deviation: Mismatch) -> int:
    """How little the deviation of a node counts beside those of others."""
    return 1 if deviation.readings else 2 if deviation.reason in SLIGHT else 0


def _nodes_before(graph: Graph, tensor: str) -> set[str]:
    """The names of the nodes that a tensor follows from."""
    needed, names = {tensor}, set[str]()
    for node in reversed(graph.nodes):  # each stands after those that it takes
        if not needed.isdisjoint(node.outputs):
            names.add(node.name)
            needed.update(name for name in node.inputs if name is not None)
    return names


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
