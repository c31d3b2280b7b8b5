"""Failures of trials, and searches that have them."""

from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from opconform.generation.options import Options
from opconform.operations import OPERATIONS
from opconform.suite.case import Binding
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.cases.simplicity import parts
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.search import Search, SearchLimits
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason


def plain(count: int) -> list[Trial]:
    """Valid cases of Split-1 that have nothing but shapes and values."""
    drawn = (draw for draw in Draws(OPERATIONS["Split-1"], 0) if draw.twin is None and not parts(draw.draft))
    return list(islice(drawn, count))


def failure(trial: Trial, reason: FailReason = "value", cause: str = "") -> Failure:
    """A failure of a trial."""
    result = Result(
        id=trial.draft.id, profile="fuzz", expect="accept", verdict="fail", reason=reason, broken=("data.bits",)
    )
    return Failure(trial=trial, result=result, symptom=("wrong data", reason, cause), causes=frozenset({cause} - {""}))


#: What a trial that does not fail gives.
PASSED = Result(id="Split-1/fuzz/0123456789", profile="fuzz", expect="accept", verdict="pass")


def search_of(*findings: FuzzFinding, earlier: tuple[Trial, ...] = ()) -> Search:
    """A search that ended before the failures were reduced."""
    search = Search(
        batches=Batches(Launch(command=backend_command("numpy")), Path(), Options()),
        limits=SearchLimits(),
        earlier=earlier,
    )
    for finding in findings:
        search._note(finding)
    return search


def digits_of(search: Search) -> list[str]:
    """The cases that a search reports."""
    return [hit.failure.trial.draft.digits for hit in search.found.values()]


def of_type(trial: Trial, element_type: str, *names: str) -> Trial:
    """A trial with data of another type; inputs with some names are constants."""
    draft = trial.draft
    data = replace(draft.tensors["data"], element_type=element_type)
    binding: dict[str, Binding] = {**draft.binding, **dict.fromkeys(names, "constant")}
    return Trial(draft=replace(draft, tensors={**draft.tensors, "data": data}, binding=binding))


def reduced(trial: Trial, reason: FailReason, said: str = "", broken: str = "data.bits") -> FuzzFinding:
    """A finding that was reduced, with one likely cause or a signal."""
    found = failure(trial, reason, said)
    result = replace(found.result, broken=(broken,))
    severity = "crash" if reason == "crash" else "wrong data"
    found = replace(found, result=result, symptom=(severity, reason, said))
    return FuzzFinding(failure=found, is_reduced=True)


def confirmed(drawn: Failure, reduced: Trial, *recurring: Failure) -> list[FuzzFinding]:
    """The findings that are left of a failure whose reduced case may recur, as may the case that was drawn."""
    search = search_of(FuzzFinding(failure=drawn))
    found = {x.trial.draft.digits: x for x in recurring}
    search.batches.outcomes = lambda given, *_, **__: (  # type: ignore[method-assign]
        found.get(x.draft.digits, PASSED) for x in given
    )
    search._confirm([FuzzFinding(failure=replace(drawn, trial=reduced), is_reduced=True)])
    assert search.unsettled == (not search.found)
    return [*search.found.values()]


def rejected(trial: Trial, message: str) -> Failure:
    """The failure of a valid case that is rejected with a message."""
    return failure(trial, "rejected-valid", message)


def outcomes_in_turn(search: Search, *outcomes: object) -> None:
    """Let each trial of a search end in one of these ways after the other, again and again."""
    turns = cycle(outcomes)
    search.batches.outcomes = lambda given, *_, **__: [  # type: ignore[assignment,method-assign]
        replace(each, trial=one) if isinstance(each := next(turns), Failure) else each for one in given
    ]
