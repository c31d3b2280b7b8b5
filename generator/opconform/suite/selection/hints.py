"""The error for each part of a selection that matches no case, with a hint at what was meant."""

from collections.abc import Callable

from opconform.errors import UsageError, near_word
from opconform.suite.selection.matches import Known, Matches, SelectionPart, is_match

_LISTED = " `opconform list --cases` lists the cases."


def check_matches(matches: Matches, known: Callable[[], Known], *, within: str = "", otherwise: str = _LISTED) -> None:
    """Raise `UsageError` with one line for each part of a selection that has matched no case.

    `within` names the suite, as in ` of suite`; `otherwise` is the hint where nothing is similar. Both begin with a
    space.
    """
    wrong = [x for x in matches.unmatched if x.kind == "pattern"] or matches.unmatched  # the rest may follow
    if wrong:
        there = known()
        raise UsageError("\n".join(_sentence(matches, x, there, within, otherwise) for x in wrong))


def _sentence(matches: Matches, part: SelectionPart, known: Known, within: str, otherwise: str) -> str:
    match part.kind:
        case "pattern":
            hint = _unselected(matches, part.name, known) or near_miss(part.name, known) or otherwise
            return f"No case{within} matches {part.name!r}.{hint}"
        case "profile":
            advice = "Select other cases, or leave the profile out."
            return f"No selected case{within} is of the profile {part.name}. {advice}"
        case "operation":
            groups = {name: group for name, group in known.groups.items() if name.startswith(f"{part.name}/")}
            hint = "Select others, or leave it out."
            if not any(matches.wants_group(*group) for group in groups.items()):
                hint = f"Its profiles: {', '.join(sorted({*groups.values()}))}."
            return f"No selected case{within} is of {part.name}. {hint}"


def _unselected(matches: Matches, pattern: str, known: Known) -> str:
    """A hint at the profiles of the cases that only the pattern matches, or nothing."""
    patterns = (pattern, "/".join(pattern.split("/")[:2]))  # of a case's id, its group
    groups = {name: group for name, group in known.groups.items() if not matches.wants_group(name, group)}
    profiles = sorted({group for name, group in groups.items() if any(is_match(x, name, ()) for x in patterns)})
    several = "one of the profiles" if len(profiles) > 1 else "the profile"
    return f" Its cases are of {several} {', '.join(profiles)}, which is not selected." if profiles else ""


def near_miss(pattern: str, known: Known) -> str:
    """A hint at the group or requirement nearest to a pattern without matches, with a leading space, or nothing.

    A requirement matches no single case, so its own name gets the command that lists its cases.
    """
    named = set(known.requirements)
    ids = sorted(known.groups, reverse=True)
    ops = {id_.partition("/")[0] for id_ in ids}
    alone = {**{id_.partition("/")[2]: id_ for id_ in ids}, **{op: op for op in ops | named}}
    if pattern in named:
        return f" It is a requirement; `opconform list --cases --select {pattern}` lists its cases."
    op, _, rest = pattern.partition("/")
    if op == pattern and op in ops:
        return f" It is an operation; `opconform list {op}` lists its groups."
    inside = {id_.partition("/")[2]: id_ for id_ in ids if id_.partition("/")[0] == op}
    word, names = (rest.partition("/")[0], inside) if rest else (op, alone)
    near = near_word(word, names)
    return f" Did you mean {names[near]!r}?" if near else ""
