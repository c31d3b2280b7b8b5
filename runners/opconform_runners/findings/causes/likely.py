"""The likely causes of the failures of a run."""

from collections import defaultdict
from collections.abc import Hashable, Mapping

from opconform.suite.reader import Suite
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.findings.causes.feeds import feeds_of, likely_cause
from opconform_runners.findings.failures import result_size
from opconform_runners.verdicts.results import Result

#: A case with more elements takes long. It has the cause of the smallest cases of its kind if so many agree.
_LARGE, _AGREEING = 1 << 10, 3


def causes_of_failures(
    failing: Mapping[str, Result],
    kinds: Mapping[str, Hashable],
    run: tuple[Suite, KeptOutputs],
    on_progress: OnProgress,
) -> dict[str, str]:
    """The likely causes of failures whose outputs were kept, by their ids; an empty text where none is known.

    The smallest cases of a kind come first. The words before the colon are the cause of a large case that has the
    same kind if the smallest ones have them in common.
    """
    suite, kept = run
    causes: dict[str, str] = {}
    words: dict[Hashable, list[str]] = defaultdict(list)
    for result in staged(sorted(failing.values(), key=result_size), on_progress, "Finding causes"):
        entry, before = suite.by_id.get(result.id), words[kinds[result.id], result.reason]
        if entry is None or result.reason == "nondeterministic":
            continue
        is_clear = len(before) >= _AGREEING and len(set(before)) == 1
        if is_clear and result_size(result)[0] > _LARGE and kept.files(entry.id):
            causes[result.id] = before[0]
            continue
        feeds = feeds_of(suite, entry, result, kept.outputs(entry.id))
        if feeds and feeds[0].actual:
            causes[result.id] = likely_cause(suite.case(entry), result, feeds[0])
            before.append(causes[result.id].partition(":")[0])
    return causes
