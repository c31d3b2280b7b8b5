"""Judges a case: from its expectation and its outcome to a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opconform.errors import SuiteError
from opconform.suite.case import GRAPH, Accept, Case, Output, Reject
from opconform.suite.manifest import OUTPUT_STAGES, Entry, Header, RequirementNote, Stage, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, outputs_digest, with_one_nan
from opconform_runners.backends.backend import Implementation, undeclared_operation
from opconform_runners.harness.outcome import Crashed, Error, Incident, NotSent, Outcome, Oversized, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts.alternatives import nearest_right, open_elements
from opconform_runners.verdicts.comparison import Mismatch, is_altered, is_invented, mismatch_of, output_number
from opconform_runners.verdicts.flushing import FLUSHES_DENORMALS, is_flushed
from opconform_runners.verdicts.graph_outputs import graph_outputs, reading_text
from opconform_runners.verdicts.rounding_error import largest_error
from opconform_runners.verdicts.verdict import (
    OF_CLAIMS,
    Fail,
    FailReason,
    Inconclusive,
    Nondeterministic,
    Own,
    Pass,
    Unsupported,
    Verdict,
    reason_of,
    sentence_of,
    twin_gap,
)

#: The stages of the comparison that a failure can be in, and those that passed before.
_PASSED: Mapping[Stage, tuple[Stage, ...]] = {
    "count": (),
    "element-type": ("count",),
    "shape": ("count", "element-type"),
    "value": ("count", "element-type", "shape"),
}
#: The failures that end the process or hang it. Only a neighbour check with such a failure excuses them.
ENDS: tuple[FailReason, ...] = ("crash", "timeout")
#: What outputs with more elements than the inputs show if some of their elements are in no input, and not in the twin's
#: golden outputs.
OUT_OF_BOUNDS = "the backend probably read out of bounds"
#: The remark on a backend that does not support what it declares.
UNDECLARED_UNSUPPORTED = "undeclared-unsupported"
#: The remark on a backend that fails a case that it does not declare to support.
FAILS_UNDECLARED = "fails-undeclared"


def first_verdict(suite: Suite, entry: Entry, case: Case, outcome: Outcome, *, flushes: bool = False) -> Own:
    """The verdict on a case alone, without its twin and without a second execution.

    `flushes` says that the backend declares to flush denormal numbers to zero.
    """
    match outcome:
        case Crashed() | TimedOut():
            return Fail(reason=outcome.status, sentence=outcome.sentence)
        case Error():
            return outcome
        case NotSent(why=why) | NotSupported(message=why):
            return Unsupported(why=why)
        case Oversized(size=size):
            return _oversized(suite, entry, case, size)
        case Refused():
            return _refused(case, outcome)
        case Returned():
            return _returned(suite, entry, case, outcome, flushes=flushes)


def final_verdict(suite: Suite, entry: Entry, verdicts: Mapping[str, Verdict]) -> Verdict:
    """The final verdict on a case of a suite, given the verdicts on all cases alone.

    A rejection counts if the twin passed, or deviates from interpretations alone.
    """
    verdict = verdicts[entry.id]
    if entry.expect == "accept" or not isinstance(verdict, Pass):
        return verdict
    name = entry.twin or ""
    twin = verdicts.get(name)
    if twin is not None and name in suite.by_id and _deviates(suite.by_id[name], twin, suite.header):
        return verdict
    why = twin_gap(entry.twin, None if twin is None else (twin.verdict, sentence_of(twin)))
    return verdict if why is None else Inconclusive(why=why)


def _deviates(entry: Entry, verdict: Verdict, header: Header) -> bool:
    """Whether a backend accepts a valid case, and its outputs break interpretations alone."""
    if not isinstance(verdict, Fail):
        return False
    broken = broken_by(entry, verdict.reason, verdict.mismatch, header, node_fails=verdict.node_fails)
    return is_deviation(entry, verdict.mismatch, broken, header)


def is_deviation(entry: Entry, mismatch: Mismatch | None, broken: Sequence[str], header: Header) -> bool:
    """Whether a failure of a case has outputs, and breaks interpretations alone."""
    levels = header.requirements.get(entry.op, {})
    interpretations = {name for name, level in levels.items() if level.level == "interpretation"}
    return mismatch is not None and bool(broken) and interpretations.issuperset(broken)


def combined(first: Own, second: Own | None) -> Own | Nondeterministic:
    """The verdict from both executions of a case; a failure in only one of them is nondeterministic.

    A crash or a timeout that does not recur with the case alone is an incident of the process, and no failure of the
    case, since another case may have caused it.
    """
    match first, second:
        case Fail(), Pass() | Fail() | Unsupported() | Error() if has_ended(first) and not has_ended(second):
            return second
        case Fail(), Fail() if (first.reason, first.mismatch) == (second.reason, second.mismatch):
            return first
        case Fail(), Pass() | Fail() | Unsupported() | Error():
            return Nondeterministic(first=first, second=second)
        case Pass(), Fail():
            return Nondeterministic(first=second, second=first)
        case _:
            return first


def as_declared(case: Case, verdict: Verdict, implementation: Implementation) -> Verdict:
    """The verdict on a case, given the declarations of the backend: a failure counts only if it declares support.

    Of element types, only those of data inputs and outputs are considered, since the specification defines those of
    setting inputs. Crashes and timeouts always count as failures.
    """
    if not isinstance(verdict, Fail | Nondeterministic):
        return verdict
    gap = declared_gap(case, implementation)
    if gap is None or has_ended(verdict):
        return verdict
    return Unsupported(why=f"the backend does not declare {gap}; {sentence_of(verdict)}", fails=True)


def has_ended(verdict: Verdict) -> bool:
    """Whether one of the executions of a failure ended in a crash or a timeout."""
    ways = [verdict.first, verdict.second] if isinstance(verdict, Nondeterministic) else [verdict]
    return any(reason_of(way) in ENDS for way in ways)


def has_recurred(incident: Incident, verdict: Verdict) -> bool:
    """Whether an incident is a part of the verdict on its case, given the verdict from both executions."""
    return has_ended(verdict) if incident.is_death else isinstance(verdict, Error)


def broken_by(
    entry: Entry, reason: FailReason, mismatch: Mismatch | None, header: Header, *, node_fails: bool = False
) -> tuple[str, ...]:
    """The requirements that a failure breaks, by the result of the comparison.

    - Accepting an invalid case breaks the requirement that the case violates.
    - A difference between NaNs breaks only the requirements on NaN payloads. One of rounding that no other reading
      gives breaks those on rounding.
    - Rejecting what another reading of an interpretation rejects breaks only the interpretation, and so do the outputs
      that another reading gives. Everything else is wrong by every reading, and breaks a normative requirement.
    - Elements that other readings have otherwise, and that are wrong by all, break the requirement under `open`.
    - Wrong values of an output with requirements of its own, as indices beside data, break one of these.
    - Changed elements break the operation's requirement on bits, even if the case does not list it, and another
      element type breaks the first requirement that the comparison of element types establishes.
    - Wrong outputs break the first normative requirement of the case that the comparison has not shown to be kept, that
      no case can violate, since the case is valid, and whose known mistake they do not show; for elements that were
      moved, this is not the one on bits. If the case has no such requirement, they break the first one that the failed
      stage of the comparison establishes.
    - A claimed case that is refused, or less accurate than claimed, breaks the claim, and no requirement.
    - A graph of which a node fails alone breaks the requirement under `node`, and one that another reading of a node
      explains the requirement under `reading`.
    - A crash, a timeout and a rejection break the first normative requirement of the case. If it has none, they break
      the first one that the comparison of shapes establishes, since they give no outputs.
    """
    if reason in OF_CLAIMS:
        return ()
    stages, levels = header.establishes.get(entry.op, {}), header.requirements.get(entry.op, {})
    about_nan, bits = stages.get("nan-payload", ()), stages.get("bits", ())
    listed = [requirement for requirement in entry.requirements if requirement not in about_nan]
    readings = {name for name, level in levels.items() if level.level == "interpretation"}
    if entry.expect != "accept":
        violated = entry.expect.reject
        return stages.get("shape", ())[:1] if reason in ENDS and violated in readings else (violated,)
    of_reading = mismatch.readings if mismatch and _are_readings(mismatch.readings, entry) else ()
    if reason == "rounding" and not of_reading and stages.get("rounding"):
        return stages["rounding"]
    if reason == "rejected-valid" and entry.readings.reject:
        return tuple(dict.fromkeys(name for x in entry.readings.reject for name in _of_reading(x, stages)))
    if of_reading:
        return tuple(dict.fromkeys(name for x in of_reading for name in _of_reading(x, stages)))
    if node_fails:
        return stages.get("node", ())
    if reason == "nan-payload":
        return tuple(requirement for requirement in entry.requirements if requirement in about_nan)
    if reason in ("value", "rounding") and (values := _of_values(entry, mismatch, listed, stages)):
        return values
    if reason == "element-type" and (types := stages.get("element-type", ())):
        return types[:1]
    normative = [x for x in listed if x not in readings and x not in entry.readings.elements]
    stage = next((x for x in _PASSED if x == ("value" if reason == "rounding" else reason)), None)
    if stage is None:
        return tuple(normative or (stages.get("shape", ()) if listed else ()))[:1]
    met = {name for x in _PASSED[stage] for name in stages.get(x, ())}
    met |= {name for x in OUTPUT_STAGES for name in stages.get(x, ())}
    met |= {*bits, *(name for name in listed if name in levels and levels[name].violable)}
    unmet = [x for x in normative if x not in met]
    on_bits = [x for x in listed if x in bits]
    return tuple((*unmet, *on_bits, *stages.get(stage, ()), *bits, *normative)[:1])


def _of_reading(name: str, stages: Mapping[Stage, tuple[str, ...]]) -> tuple[str, ...]:
    """The requirement that another reading breaks: the interpretation, or that on readings of a graph's nodes."""
    return stages.get("reading", ())[:1] if "@" in name else (name,)


def _of_values(
    entry: Entry, mismatch: Mismatch | None, listed: Sequence[str], stages: Mapping[Stage, tuple[str, ...]]
) -> tuple[str, ...]:
    """The requirement on open elements, on the wrong output alone, or on bits, that wrong values break; or none."""
    if mismatch is None:
        return ()
    if mismatch.open and entry.readings.elements and (lacking := stages.get("open", ())):
        return lacking[:1]
    number = output_number(mismatch.output) if mismatch.output is not None else 0
    of_output = stages.get(OUTPUT_STAGES[number - 1], ()) if 0 < number <= len(OUTPUT_STAGES) else ()
    if of_output:
        return (next((name for name in listed if name in of_output), of_output[0]),)
    return stages.get("bits", ()) if mismatch.reason == "value" and mismatch.altered else ()


def _said_of(readings: Sequence[str], levels: Mapping[str, RequirementNote]) -> str:
    """The clause on the interpretations, or misread requirements, that explain wrong outputs."""
    misread = [name for name in readings if name in levels and levels[name].level == "normative"]
    if misread:
        return f"these outputs contradict {', '.join(misread)}"
    return f"another reading of {', '.join(map(reading_text, readings))} gives these outputs"


def _are_readings(names: tuple[str, ...], entry: Entry) -> bool:
    """Whether other readings of these interpretations give other outputs, or other elements, of a case."""
    return names in entry.readings.outputs.values() or (bool(names) and {*names} <= {*entry.readings.elements})


def remarks_of(case: Case, verdict: Verdict, implementation: Implementation, *, sent: bool) -> tuple[str, ...]:
    """The remarks on a case on which the backend supports more or less than it declares.

    The declared element types are for data: a backend may support others for its setting inputs, or not.
    """
    if isinstance(verdict, Unsupported) and verdict.fails:
        return (FAILS_UNDECLARED,)
    every_type = ("data", "setting")
    if isinstance(verdict, Unsupported) and sent and declared_gap(case, implementation, roles=every_type) is None:
        return (UNDECLARED_UNSUPPORTED,)
    if not isinstance(verdict, Pass):
        return ()
    flushed = (FLUSHES_DENORMALS,) if verdict.flushed else ()
    undeclared = isinstance(case.expect, Accept) and declared_gap(case, implementation) is not None
    return ("passes-undeclared", *flushed) if undeclared else flushed


def declared_gap(case: Case, implementation: Implementation, *, roles: Sequence[str] = ("data",)) -> str | None:
    """The feature of a case that the backend does not declare, or None.

    Element types count for outputs and for inputs of `roles`.
    """
    operation = undeclared_operation(case, implementation.operations, implementation.dialects)
    if operation is not None:
        return operation
    for input_ in case.inputs:
        if input_.role in roles and input_.element_type not in implementation.element_types:
            return input_.element_type
        if input_.role == "setting" and input_.binding not in implementation.bindings:
            return f"{input_.name} as a {input_.binding}"
        if input_.dynamic is not None and not implementation.dynamic:
            return "dynamic shapes"
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    return next((x.element_type for x in outputs if x.element_type not in implementation.element_types), None)


def _moves_data(suite: Suite, entry: Entry) -> bool:
    """Whether the outputs of the operation under test have only elements of its inputs."""
    return any(x.moves_data and x.name == entry.op for x in suite.header.declarations)


def _oversized(suite: Suite, entry: Entry, case: Case, size: int) -> Fail:
    much = f"its outputs take {size:,} bytes, far more than expected"
    if not isinstance(case.expect, Reject):
        return Fail(reason="shape", sentence=much)
    sentence = f"accepted, although it violates {case.expect.reject}; {much}"
    if _moves_data(suite, entry):
        sentence += f": {OUT_OF_BOUNDS}"
    return Fail(reason="accepted-invalid", sentence=sentence)


def _refused(case: Case, answer: Refused) -> Pass | Fail:
    if not isinstance(case.expect, Reject):
        sentence = f"rejected at {answer.stage} time, although it is valid: {answer.message}"
        return Fail(reason="rejected-valid", sentence=sentence)
    early = all(input_.dynamic is None for input_ in case.inputs)
    constant = all(input_.binding == "constant" for input_ in case.inputs if input_.role == "setting")
    named = answer.requirement if answer.requirement not in (None, case.expect.reject) else None
    return Pass(late=answer.stage == "run" and early and constant, other_reason=named)


def _returned(suite: Suite, entry: Entry, case: Case, outcome: Returned, *, flushes: bool) -> Own:
    match case.expect:
        case Reject(reject=requirement):
            shapes = ", ".join(str(list(output.shape)) for output in outcome.outputs[-1][:8]) or "none"
            arrays = suite.arrays(entry, inputs_name(case.feeds - 1))
            elements = sum(arrays[input_.name].size for input_ in case.inputs if input_.role == "data")
            sentence = f"accepted, although it violates {requirement}; its outputs have the shapes {shapes}"
            if _moves_data(suite, entry) and sum(output.size for output in outcome.outputs[-1]) > elements:
                known = [*arrays.values(), *_golden_of_twin(suite, entry)]
                stored = {x.dtype for x in known}  # nothing can be said of elements of a promoted type
                if any(output.dtype in stored and is_invented(output, known) for output in outcome.outputs[-1]):
                    sentence += f", with elements that are in no input: {OUT_OF_BOUNDS}"
            return Fail(reason="accepted-invalid", sentence=sentence)
        case Accept(accept=outputs):
            return _compared(suite, entry, outcome, outputs, flushes=flushes)
        case None:
            raise SuiteError(f"{entry.id}/case.json has no expectation. Generate the suite again.")


def _golden_of_twin(suite: Suite, entry: Entry) -> list[Array]:
    """The expected outputs of the twin, in which an operation may have added elements that are in no input."""
    twin = suite.by_id.get(entry.twin or "")
    if twin is None or suite.header.blind:
        return []
    return [array for feed in range(suite.case(twin).feeds) for array in suite.golden(twin, feed).values()]


def _other_readings(entry: Entry, outcome: Returned, outputs: Sequence[Output]) -> tuple[str, ...]:
    """The interpretations by whose other readings all outputs are right."""
    if any(len(feed) != len(outputs) for feed in outcome.outputs):
        return ()
    feeds = [[*map(_as_compared, feed, outputs)] for feed in outcome.outputs]
    return entry.readings.outputs.get(outputs_digest(feeds), ())


def _as_compared(array: Array, output: Output) -> Array:
    """The elements of an output; every NaN of a computed one is the same."""
    kind = ELEMENT_TYPES[output.element_type]
    return array if output.comparison == "bits" or array.dtype != kind.storage else with_one_nan(array, kind)


def _compared(suite: Suite, entry: Entry, outcome: Returned, outputs: Sequence[Output], *, flushes: bool) -> Own:
    element_types = [output.element_type for output in outputs]
    errors: list[float] = []
    flushed = False
    for feed, actual in enumerate(outcome.outputs):
        golden, bounds = suite.golden(entry, feed), suite.bounds(entry, feed)
        expected = nearest_right([golden[output.name] for output in outputs], actual, suite.also(entry, feed))
        stated = outcome.element_types[feed] if outcome.element_types else None
        reduced = suite.reduced(entry, feed)
        mismatch = mismatch_of(expected, actual, element_types, bounds=bounds, reduced=reduced, stated=stated)
        mismatch = mismatch and replace(mismatch, feed=feed)
        if flushes and mismatch is not None and is_flushed(suite, entry, mismatch, actual):
            flushed = True
        elif mismatch is not None:
            if mismatch.reason == "value" and mismatch.output is not None:
                number, inputs = output_number(mismatch.output), suite.arrays(entry, inputs_name(feed))
                altered = is_altered(expected[number], actual[number], list(inputs.values()))
                mismatch = replace(mismatch, altered=altered)
            others = open_elements(suite, entry, outcome.outputs, outputs)
            readings = _other_readings(entry, outcome, outputs) or others.readings
            mismatch = replace(mismatch, readings=readings, open=others.open)
            levels = suite.header.requirements.get(entry.op, {})
            if any(name in levels and levels[name].level == "normative" for name in readings):
                mismatch = replace(mismatch, reason="value" if mismatch.reason == "rounding" else mismatch.reason)
            where = f"in feed {feed} " if feed else ""
            also = f"; {_said_of(readings, suite.header.requirements.get(entry.op, {}))}" if readings else ""
            of_graph = graph_outputs(suite, entry, outcome, outputs) if entry.op == GRAPH else ()
            sentence = f"{where}{mismatch.sentence}{also}"
            return Fail(reason=mismatch.reason, sentence=sentence, mismatch=mismatch, outputs=of_graph)
        elif (error := largest_error(expected, actual, bounds, element_types)) is not None:
            errors.append(error)
    return Pass(error=max(errors, default=None), flushed=flushed)
