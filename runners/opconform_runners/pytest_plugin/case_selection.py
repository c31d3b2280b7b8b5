"""Which cases of a suite become tests: the selected ones of the operations that the backend declares."""

from collections.abc import Collection, Sequence

from opconform.errors import UsageError, counted
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Matches
from opconform.suite.selection.selection import Selection
from opconform_runners.pytest_plugin.items import shown_path


def selected_entries(
    suite: Suite, selections: Sequence[Selection], operations: Collection[str]
) -> tuple[list[Entry], list[Entry]]:
    """The cases that all selections want: the cases of declared operations, and the others.

    Without `operations`, all are declared.

    Raises:
        UsageError: A part of a selection matches no case, or only cases of operations that are not declared.
    """
    every = [Matches(selection, every_profile=True) for selection in selections]
    matching = [entry for entry in suite.entries if _all_want(every, entry)]
    for item in every:
        check_matches(item, suite.known, within=f" of {shown_path(suite.store.root)}")
    declared_entries = [entry for entry in matching if not operations or entry.op in operations]
    again = [Matches(selection, every_profile=True) for selection in selections]
    for entry in declared_entries:
        _all_want(again, entry)
    declared = ", ".join(operations)
    if not declared_entries and not any(selection.patterns for selection in selections):
        raise UsageError(f"{shown_path(suite.store.root)} has no case of a declared operation. Declared: {declared}.")
    if unused := [part.name for x in reversed(again) for part in x.unmatched]:
        sentence = "selects only cases of operations that the backend does not declare."
        raise UsageError(f"{unused[0]!r} {sentence} Declared: {declared}.")
    return declared_entries, [entry for entry in matching if operations and entry.op not in operations]


def absent_sentence(absent: Sequence[Entry], title: str) -> str:
    """What is said of the cases that are not collected."""
    operations = sorted({x.op for x in absent})
    which = counted(len(operations), "operation")
    return f"{counted(len(absent), 'case')} of {which} that {title} does not declare: {', '.join(operations)}."


def _all_want(every: Sequence[Matches], entry: Entry) -> bool:
    return all(x.wants(entry.id, entry.profile, entry.requirements) for x in every)
