"""What a backend's maker claims: which cases its backend supports, and how accurate their results are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.verdicts.accuracy_level import MET_LEVELS, MetLevel, level_of, rounded_type
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import Fail, Pass, Unsupported, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """The claims in a file.

    Attributes:
        text: The file.
        covers: Whether a valid case of a suite is claimed.
        accuracy: The accuracy level that is claimed of an operation, by element type.
    """

    text: str
    covers: Callable[[Suite, Entry], bool]
    accuracy: Mapping[str, Mapping[str, MetLevel]]

    def judged(self, suite: Suite, entry: Entry, verdict: Verdict) -> Verdict:
        """The verdict on a case, given the one without claims.

        A claimed case that is refused fails, and so does one whose results are less accurate than claimed.
        """
        if entry.expect != "accept":
            return verdict
        if isinstance(verdict, Unsupported) and self.covers(suite, entry):
            return Fail(reason="claimed", sentence=f"claimed, but not supported: {verdict.why}")
        level = _level(verdict)
        levels = self.accuracy.get(entry.op)
        if level is None or levels is None:
            return verdict
        name = rounded_type(suite.recent_case(entry)) or ""
        claimed = levels.get(name, "none")
        if MET_LEVELS.index(level) <= MET_LEVELS.index(claimed) or not self.covers(suite, entry):
            return verdict
        sentence = f"claimed to be {claimed} in {name}, but {level}"
        if isinstance(verdict, Fail):
            return Fail(reason="accuracy", sentence=f"{sentence}: {verdict.sentence}", mismatch=verdict.mismatch)
        return Fail(reason="accuracy", sentence=sentence)

    def marked(self, suite: Suite, entry: Entry, result: Result) -> Result:
        """A result that says whether its case is claimed."""
        return replace(result, unclaimed=entry.expect == "accept" and not self.covers(suite, entry))


def _level(verdict: Verdict) -> MetLevel | None:
    """The accuracy level of the results of a case; None if it has no rounded ones, or if they are wrong."""
    if isinstance(verdict, Fail):
        return "reduced" if verdict.reason == "rounding" else None
    return level_of(verdict.error) if isinstance(verdict, Pass) and verdict.error is not None else None
