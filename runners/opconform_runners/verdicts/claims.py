"""What a backend's maker claims: which cases its backend supports."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import Fail, Unsupported, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """The claims in a file.

    Attributes:
        text: The file.
        covers: Whether a valid case of a suite is claimed.
    """

    text: str
    covers: Callable[[Suite, Entry], bool]

    def judged(self, suite: Suite, entry: Entry, verdict: Verdict) -> Verdict:
        """The verdict on a case, given the one without claims: a claimed case that is refused fails."""
        if isinstance(verdict, Unsupported) and entry.expect == "accept" and self.covers(suite, entry):
            return Fail(reason="claimed", sentence=f"claimed, but not supported: {verdict.why}")
        return verdict

    def marked(self, suite: Suite, entry: Entry, result: Result) -> Result:
        """A result that says whether its case is claimed."""
        return replace(result, unclaimed=entry.expect == "accept" and not self.covers(suite, entry))
