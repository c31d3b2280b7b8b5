"""An earlier run in the folder of a run, which says what is not worth packing."""

from pathlib import Path

from opconform.errors import OpconformError
from opconform_runners.verdicts.results import RESULTS, read_written
from opconform_runners.verdicts.run_header import RunHeader


def unpassed_cases(out: Path, header: RunHeader) -> set[str]:
    """The valid cases that did not pass in the run whose results are in a folder, if it was of the same build.

    Results that cannot be read say nothing.
    """
    try:
        written = read_written(out / RESULTS)
        builds = [(x.implementation, x.program, x.environment.packages) for x in (written.header, header)]
        if builds[0] != builds[1]:
            return set()
        return {result.id for result in written.results if result.expect == "accept" and result.verdict != "pass"}
    except OpconformError:
        return set()
