"""The likely causes of the failures of a run."""

from collections.abc import Iterable

from opconform.suite.reader import Suite
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.findings.causes.feeds import feeds_of, likely_cause
from opconform_runners.verdicts.results import Result


def causes_of_failures(
    failing: Iterable[Result], suite: Suite, kept: KeptOutputs, on_progress: OnProgress
) -> dict[str, str]:
    """The likely causes of failures whose outputs were kept, by their ids; an empty text where none is known."""
    causes = {}
    for result in staged([*failing], on_progress, "Finding causes"):
        if (entry := suite.by_id.get(result.id)) and result.reason != "nondeterministic":
            feeds = feeds_of(suite, entry, result, kept.outputs(entry.id))
            if feeds and feeds[0].actual:
                causes[result.id] = likely_cause(suite.recent_case(entry), result, feeds[0])
    return causes
