"""Judging: from what is expected of a case and what came of it to a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opconform.errors import SuiteError
from opconform.suite.case import Accept, Case, Reject
from opconform.suite.manifest import Entry, Header, Stage, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation, undeclared_operation
from opconform_runners.harness.outcome import Broken, Crashed, NotSent, Outcome, Oversized, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts.comparison import Mismatch, expected_outputs, is_altered, mismatch_of
from opconform_runners.verdicts.verdict import (
    Error,
    Fail,
    FailReason,
    Inconclusive,
    Nondeterministic,
    Pass,
    Unsupported,
    Verdict,
    name_of,
    reason_of,
    sentence_of,
    twin_sentence,
)

#: What has been compared and found right where outputs differ for a reason.
_PASSED: Mapping[str, tuple[Stage, ...]] = {
    "element-type": ("count",),
    "shape": ("count", "element-type"),
    "value": ("count", "element-type", "shape"),
}
#: The finding of a backend that does not do what it declares that it does.
UNDECLARED_UNSUPPORTED = "undeclared-unsupported"
#: The finding of a backend that does wrong what it declares that it cannot do.
FAILS_UNDECLARED = "fails-undeclared"


def first_verdict(suite: Suite, entry: Entry, case: Case, outcome: Outcome) -> Pass | Fail | Unsupported | Error:
    """The verdict of a case for itself, before its twin and a second execution are asked.

    Args:
        suite: The suite that the case is of.
        entry: The case's line.
        case: The case.
        outcome: What came of it.
    """
    match outcome:
        case Crashed(how=how):
            return Fail(reason="crash", sentence=f"the backend's process died: {how}")
        case TimedOut(seconds=seconds):
            return Fail(reason="timeout", sentence=f"there was no answer within {seconds:g} seconds")
        case Broken(sentence=sentence, log=log):
            return Error(sentence=sentence, log=log)
        case NotSent(why=why):
            return Unsupported(why=why)
        case NotSupported(message=message):
            return Unsupported(why=message)
        case Oversized(size=size):
            return _oversized(case, size)
        case Refused():
            return _refused(case, outcome)
        case Returned():
            return _returned(suite, entry, case, outcome)


def final_verdict(entry: Entry, own: Mapping[str, Verdict]) -> Verdict:
    """The verdict of a case once those of all cases for themselves are known."""
    verdict = own[entry.id]
    if entry.expect == "accept" or not isinstance(verdict, Pass):
        return verdict
    twin = None if entry.twin is None else own.get(entry.twin)
    if isinstance(twin, Pass):
        return verdict
    return Inconclusive(why=twin_sentence(entry.twin, None if twin is None else (name_of(twin), sentence_of(twin))))


def compared(first: Fail, second: Pass | Fail | Unsupported | Error) -> Fail | Nondeterministic:
    """The verdict of a case that failed and was executed once more."""
    same = isinstance(second, Fail) and (first.reason, first.mismatch) == (second.reason, second.mismatch)
    return first if same else Nondeterministic(first=first, second=second)


def combined(
    first: Pass | Fail | Unsupported | Error, second: Pass | Fail | Unsupported | Error | None
) -> Pass | Fail | Nondeterministic | Unsupported | Error:
    """The verdict of a case by its executions: a failure that does not come every time is one of its own."""
    if second is None or not (isinstance(first, Fail) or (isinstance(first, Pass) and isinstance(second, Fail))):
        return first
    if isinstance(first, Fail):
        return compared(first, second)
    return Nondeterministic(first=second, second=first)  # type: ignore[arg-type]


def as_declared(case: Case, verdict: Verdict, implementation: Implementation) -> Verdict:
    """The verdict of a case in the light of what the backend declares: who says that it cannot need not be right.

    Of types it is data's that counts, since the specification says which types axis and lengths have. To die or to
    hang is excused by nothing.
    """
    if not isinstance(verdict, Fail | Nondeterministic):
        return verdict
    ends = [verdict] if isinstance(verdict, Fail) else [verdict.first, verdict.second]
    gap = _declared_gap(case, implementation, typed=[each.name for each in case.inputs if each.role == "tensor"])
    if gap is None or any(reason_of(each) in ("crash", "timeout") for each in ends):
        return verdict
    return Unsupported(why=f"the backend does not declare {gap}; {sentence_of(verdict)}", instead=verdict)


def broken_requirements(entry: Entry, verdict: Verdict, header: Header) -> tuple[str, ...]:
    """The requirements that a failure speaks against; see `broken_by`."""
    failure = verdict.first if isinstance(verdict, Nondeterministic) else verdict
    return broken_by(entry, failure.reason, failure.mismatch, header) if isinstance(failure, Fail) else ()


def broken_by(entry: Entry, reason: FailReason, mismatch: Mismatch | None, header: Header) -> tuple[str, ...]:
    """The requirements that a failure speaks against, by what the comparison found.

    - A rejected case speaks against the requirement that it violates.
    - A difference between NaNs speaks against the requirements on NaN payloads alone.
    - A refusal of what only an interpretation allows speaks against the interpretation alone.
    - Elements that were changed speak against the operation's requirement on bits, whatever the case lists.
    - Anything else speaks against the first normative requirement of the case that the comparison has not shown to be
      kept; where elements are misplaced, that is another than the one on bits.

    Args:
        entry: The case's line of the manifest.
        reason: Why it failed.
        mismatch: Where outputs differ, if they were compared.
        header: The suite's header.
    """
    if entry.expect != "accept":
        return (entry.expect.reject,)
    stages, levels = header.establishes.get(entry.op, {}), header.requirements.get(entry.op, {})
    about_nan, bits = stages.get("nan-payload", ()), stages.get("bits", ())
    listed = [each for each in entry.requirements if each not in about_nan]
    if reason == "nan-payload":
        return tuple(each for each in entry.requirements if each in about_nan)
    readings = tuple(each for each in listed if each in levels and levels[each].level == "interpretation")
    if reason == "rejected-valid" and readings:
        return readings
    if reason == "value" and mismatch is not None and mismatch.altered and bits:
        return bits
    kept = {name for stage in _PASSED.get(reason, ()) for name in stages.get(stage, ())}
    left = [each for each in listed if each not in kept] or listed
    if reason == "value":
        left = [each for each in left if each not in bits] or left
    return tuple([each for each in left if each not in readings][:1] or left[:1])


def findings_of(case: Case, verdict: Verdict, implementation: Implementation, *, sent: bool) -> tuple[str, ...]:
    """What is worth knowing of a verdict beside itself: a backend that can do more or less than it says."""
    declared = _declared_gap(case, implementation, typed=[each.name for each in case.inputs])
    if isinstance(verdict, Unsupported) and verdict.instead is not None:
        return (FAILS_UNDECLARED,)
    if isinstance(verdict, Unsupported) and sent and declared is None:
        return (UNDECLARED_UNSUPPORTED,)
    if isinstance(verdict, Pass) and isinstance(case.expect, Accept) and declared is not None:
        return ("passes-undeclared",)
    return ()


def _declared_gap(case: Case, implementation: Implementation, *, typed: Sequence[str]) -> str | None:
    """What of a case the backend says that it cannot do, or None; `typed` names the inputs whose type is asked for."""
    operation = undeclared_operation(case, implementation.operations, implementation.dialects)
    if operation is not None:
        return operation
    for each in case.inputs:
        if each.name in typed and each.element_type not in implementation.element_types:
            return each.element_type
        if each.role == "control" and each.binding not in implementation.bindings:
            return f"{each.name} as a {each.binding}"
        if each.dynamic is not None and not implementation.dynamic:
            return "dynamic shapes"
    return None


def _oversized(case: Case, size: int) -> Fail:
    much = f"its outputs take {size:,} bytes, which is far more than can be right"
    if isinstance(case.expect, Reject):
        accepted = f"the case violates {case.expect.reject}, and was accepted"
        sentence = f"{accepted}; {much}: memory past the end of the inputs was probably read"
        return Fail(reason="accepted-invalid", sentence=sentence)
    return Fail(reason="shape", sentence=much)


def _refused(case: Case, answer: Refused) -> Pass | Fail:
    if not isinstance(case.expect, Reject):
        sentence = f"the case is right, and was refused at {answer.stage} time: {answer.message}"
        return Fail(reason="rejected-valid", sentence=sentence)
    early = all(each.dynamic is None for each in case.inputs)
    constant = all(each.binding == "constant" for each in case.inputs if each.role == "control")
    other = answer.requirement if answer.requirement not in (None, case.expect.reject) else None
    return Pass(late=answer.stage == "run" and early and constant, other_reason=other)


def _returned(suite: Suite, entry: Entry, case: Case, outcome: Returned) -> Pass | Fail:
    match case.expect:
        case Reject(reject=requirement):
            shapes = ", ".join(str(list(each.shape)) for each in outcome.outputs[-1][:8]) or "none"
            arrays = suite.arrays(entry, inputs_name(case.feeds - 1))
            held = sum(arrays[each.name].size for each in case.inputs if each.role == "tensor")
            beyond = sum(each.size for each in outcome.outputs[-1]) > held
            note = (
                f", more than the {held:,} elements of the inputs: memory past their end was probably read"
                if beyond
                else ""
            )
            sentence = f"the case violates {requirement}, and was accepted; its outputs have the shapes {shapes}{note}"
            return Fail(reason="accepted-invalid", sentence=sentence)
        case Accept(accept=outputs):
            return _compared(suite, entry, case, outcome, [each.element_type for each in outputs])
        case None:
            raise SuiteError(f"{entry.id}/case.json says nothing of what is expected. Generate the suite again.")


def _compared(suite: Suite, entry: Entry, case: Case, outcome: Returned, element_types: Sequence[str]) -> Pass | Fail:
    element_type = element_types[0] if element_types else "f32"
    for feed, actual in enumerate(outcome.outputs):
        golden = suite.arrays(entry, expected_name(feed))
        expected = expected_outputs(golden, case.expect.accept) if isinstance(case.expect, Accept) else []
        said = outcome.element_types[feed] if outcome.element_types else None
        mismatch = mismatch_of(expected, actual, element_type, feed=feed, said=said)
        if mismatch is not None:
            mismatch = _with_origin(mismatch, expected, actual, suite.arrays(entry, inputs_name(feed)))
            where = f"in feed {feed} " if feed else ""
            return Fail(reason=mismatch.reason, sentence=f"{where}{mismatch.sentence}", mismatch=mismatch)
    return Pass()


def _with_origin(
    mismatch: Mismatch, expected: Sequence[Array], actual: Sequence[Array], inputs: Mapping[str, Array]
) -> Mismatch:
    """A mismatch of values, and whether they come from an input."""
    if mismatch.reason != "value" or mismatch.output is None:
        return mismatch
    number = int(mismatch.output.removeprefix("output_"))
    return replace(mismatch, altered=is_altered(expected[number], actual[number], list(inputs.values())))
