"""Limits of specs: what is too large, too deep or too slow is a short mistake with its place, found in little time."""

import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from opconform.errors import UsageError
from opconform.generation import pipeline
from opconform.generation.expansion import expand
from opconform.generation.options import Options
from opconform.generation.output.stream import Stream
from opconform.model.draft import Draft
from opconform.specs.loader import load_specs, shipped_operations
from opconform.specs.yaml_document import SpecMistakes
from opconform.suite.case import GRAPH

HEAD = "op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n"
BODY = "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5]\n"
SPLIT = "op: Split-1\ngroups:\n  - id: a\n    title: t\n    data: {shape: [6, 2]}\n    axis: 0\n"
LONG = "x" * 100_000
#: The operations that have shipped requirements.
OPERATIONS = ", ".join(sorted([*shipped_operations(), GRAPH]))


def axis(text: str) -> str:
    """A spec with a variable `n` and such an axis."""
    return f"{HEAD}    matrix: {{n: [1]}}\n    data: {{shape: [6]}}\n    axis: {text}\n    split_lengths: [6]\n"


def data(text: str) -> str:
    """A spec with such data."""
    return f"{HEAD}    data: {text}\n    axis: 0\n    split_lengths: [6]\n"


def drawn(expression: str, where: str = "0 == 0") -> str:
    """A spec with random draws of a variable `v`."""
    return f"{HEAD}    random: {{count: 9, draw: {{v: '${{{{ {expression} }}}}'}}}}\n    where: {where}\n{BODY}"


MISTAKES = {
    "an operation in brackets": (
        "op: [Split-1]\ngroups: []\n",
        f"spec.yaml:1:5: op: ['Split-1'] is not a known operation. Allowed: {OPERATIONS}.",
    ),
    "a feed without data": (
        f"{HEAD}    axis: 0\n    feed: {{axis: 1}}\n    binding: parameter\n",
        (
            "spec.yaml:3:5: group 'a': expect: the case is expected to be accepted, but it violates data.required, "
            "lengths.required; correct the case, or write `expect: {reject: data.required, also: [lengths.required]}`."
        ),
    ),
    "an infinity": (
        axis("${{ [1e999] }}"),
        "spec.yaml:7:11: `[1e999]` is not a valid expression: a number is not finite.",
    ),
    "an overflow": (
        axis("${{ [1e308 * (n + 9)] }}"),
        "spec.yaml:7:11: group 'a': `[1e308 * (n + 9)]` returns [inf], which contains a number that is not finite, with n=1.",
    ),
    "a list that holds itself": (
        axis("&a [*a]"),
        "spec.yaml:7:11: Values are nested deeper than 64 levels here with its aliases expanded.",
    ),
    "rank 65": (
        data(f"{{shape: {[1] * 65}}}"),
        "spec.yaml:5:19: group 'a': data: a shape of 65 dimensions is over the limit of 64.",
    ),
    "a size that no array can have": (
        data(f"{{shape: [0, {10**30}]}}"),
        "spec.yaml:5:19: group 'a': data: the product of the non-zero sizes is over the limit of 288,230,376,151,711,744.",
    ),
    "a NUL in an attribute": (
        f'{SPLIT}    num_splits: "a\\0"\n    expect: {{reject: num_splits.type}}\n',
        "spec.yaml:7:17: group 'a': num_splits: 'a\\x00' contains the character U+0000, which an IR cannot contain.",
    ),
    "an unpaired surrogate": (
        axis("${{ '\\ud800' }}"),
        ("spec.yaml:7:11: group 'a': `'\\ud800'` returns text with an unpaired surrogate, with n=1."),
    ),
    "a number over every float": (
        data("{values: [1e999]}"),
        "spec.yaml:5:21: The number '1e999' is too large; write `inf` for infinity.",
    ),
    "a bound of many digits": (
        f"{HEAD}    dynamic: ['1..{'9' * 5_000}', 2]\n{BODY}",
        (
            f"spec.yaml:5:15: dynamic: '1..{'9' * 195}… is not allowed: it must be an integer or a size, "
            '"?" or bounds such as "2..8".'
        ),
    ),
    "a title with an escape sequence": (
        'op: Split-1\ngroups:\n  - id: a\n    title: "\\e[31m"\n',
        "spec.yaml:4:12: title: '\\x1b[31m' is not allowed: it must be one line of text, without control characters.",
    ),
    "a failing element of the matrix": (
        f"{HEAD}    matrix: {{n: ['${{{{ 1 / 0 }}}}']}}\n{BODY}",
        "spec.yaml:5:17: group 'a': n: `1 / 0` fails: division by zero.",
    ),
    "an input of millions of elements in place": (
        axis("{shape: [16777216], fill: constant, value: 0}"),
        (
            "spec.yaml:7:11: group 'a': axis: 16,777,216 elements are over the limit of 100,000 for a setting "
            "input (with n=1)."
        ),
    ),
    "a long value": (
        f"op: {LONG}\ngroups: []\n",
        f"spec.yaml:1:5: op: '{'x' * 198}… is not a known operation. Allowed: {OPERATIONS}.",
    ),
    "long variables": (
        axis("${{ n / m }}").replace("n: [1]", f"n: [{LONG}], m: [{LONG}]"),
        (
            f"spec.yaml:7:11: group 'a': `n / m` fails: unsupported operand type(s) for /: 'str' and 'str', with "
            f"n='{'x' * 198}…, m='{'x' * 92}…."
        ),
    ),
    "many values": (
        f"op: [{'1, ' * 60_000}]\n",
        "spec.yaml:1:59997: The file contains more than 20,000 values; split it.",
    ),
    "many expressions": (
        f"{HEAD}    matrix:\n      n:\n" + "".join(f"        - ${{{{ {n} }}}}\n" for n in range(3_000)) + BODY,
        "spec.yaml:1:1: The file contains more than 2,000 different expressions; split it.",
    ),
    "a long expression": (
        axis(f"${{{{ 1{' + 1' * 1_000} }}}}"),
        f"spec.yaml:7:11: `1{' + 1' * 49} +…` has more characters than the limit of 2,000.",
    ),
    "a deep expression": (
        axis(f"${{{{ {'(' * 60}1{')' * 60} }}}}"),
        f"spec.yaml:7:11: `{'(' * 60}1{')' * 60}` nests brackets deeper than the limit of 50 levels.",
    ),
    "a product of lists": (
        axis("${{ product([[0], 10 ** 9]) }}"),
        "spec.yaml:7:11: group 'a': `product([[0], 10 ** 9])` fails: only numbers can be multiplied, with n=1.",
    ),
    "nested repetition": (
        axis("${{ repeat(repeat(0, 90000), 90000) }}"),
        (
            "spec.yaml:7:11: group 'a': `repeat(repeat(0, 90000), 90000)` fails: a list of more than 100,000 values is "
            "over the limit, with n=1."
        ),
    ),
    "a sort by a slow function": (
        axis("${{ sorted(range(1, 99999), key=divisors) }}"),
        (
            "spec.yaml:7:11: group 'a': `sorted(range(1, 99999), key=divisors)` fails: a function cannot be an argument; "
            "call it, with n=1."
        ),
    ),
    "a sum of lists": (
        axis("${{ sum(repeat([1], 30000), []) }}"),
        (
            "spec.yaml:7:11: group 'a': `sum(repeat([1], 30000), [])` fails: sum() takes 1 positional argument but 2 were "
            "given, with n=1."
        ),
    ),
    "texts joined": (
        axis("${{ range(9) ~ n }}"),
        "spec.yaml:7:11: `range(9) ~ n` is not a valid expression: `~` returns text, but an expression must return a value.",
    ),
    "long expressions in many cases": (
        f"{HEAD}    matrix: {{n: '${{{{ range(9999) }}}}'}}\n    where: sum(range(90000)) < n\n{BODY}",
        (
            "spec.yaml:6:12: group 'a': `sum(range(90000)) < n` fails: the expressions of the group produce more "
            "values than the limit of 2,000,000, with n=21."
        ),
    ),
    "pairwise of long lists": (
        f"{HEAD}    matrix: {{n: '${{{{ range(999) }}}}', m: '${{{{ range(999) }}}}'}}\n    combine: pairwise\n{BODY}",
        "spec.yaml:6:14: group 'a': pairwise has 998,001 pairs of values, over the limit of 5,000.",
    ),
    "pairwise with a filter that is false": (
        f"{HEAD}    matrix:\n"
        + "".join(f"      v{n}: [0, 1, 2, 3, 4, 5, 6, 7]\n" for n in range(12))
        + f"    combine: pairwise\n    where: v0 + v11 > 99\n{BODY}",
        "spec.yaml:19:12: group 'a': 5,000 combinations were tried without success; simplify `where` or `exclude`.",
    ),
    "many combinations and many entries": (
        f"{HEAD}    matrix: {{n: '${{{{ range(1000) }}}}'}}\n    exclude:\n{'      - {n: -1}' + chr(10)}"
        + "      - {n: -1}\n" * 999
        + BODY,
        (
            "spec.yaml:7:7: group 'a': 1,000 combinations times 1,000 entries are over the limit of 500,000; use `where`, or "
            "separate groups."
        ),
    ),
    "draws of an empty domain": (
        drawn("random_integer(0, 9)", "v > 9"),
        "spec.yaml:5:13: group 'a': `where` is false for 2,001 draws; narrow the draws.",
    ),
    "draws of one value": (
        drawn("random_integer(0, 0)"),
        "spec.yaml:5:13: group 'a': 2,022 draws produce only 1 of 9 cases; widen the draws.",
    ),
    "a shape of a billion dimensions": (
        drawn("random_shape(10 ** 9, 10 ** 9, 0, 9)"),
        (
            "spec.yaml:5:34: group 'a': v: `random_shape(10 ** 9, 10 ** 9, 0, 9)` fails: a drawn list of 1000000000 "
            "elements is over the limit of 10,000, with no variables."
        ),
    ),
}


def cases(path: Path) -> Iterator[Draft]:
    """The cases of a spec."""
    for spec in load_specs([path]):
        for group in spec.groups:
            yield from expand(group)


def message(folder: Path, text: str) -> str:
    """What is said of a wrong spec, in little time."""
    path = folder / "spec.yaml"
    path.write_text(text)
    started = time.process_time()
    with pytest.raises(SpecMistakes) as caught:
        deque(cases(path), maxlen=0)
    assert time.process_time() - started < 10, "it takes under a second on a machine that is not busy"
    return str(caught.value).replace(f"{path.as_posix()}:", "spec.yaml:")


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_too_much_is_a_short_mistake(tmp_path: Path, name: str) -> None:
    """Each hostile spec ends in one sentence, which shows no more than the beginning of a long value."""
    text, sentence = MISTAKES[name]

    assert message(tmp_path, text) == sentence


def test_specs_of_many_large_groups_are_refused_before_they_are_expanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each group is within its limit, and all together have 2**26 combinations."""
    body = f"    matrix: {{n: '${{{{ range(256) }}}}', m: '${{{{ range(256) }}}}'}}\n{BODY}"
    for number in range(8):
        groups = "".join(f"  - id: a{number}-{index}\n    title: t\n{body}" for index in range(128))
        (tmp_path / f"{number}.yaml").write_text(f"op: VariadicSplit-1\ngroups:\n{groups}")
    monkeypatch.setattr(pipeline, "expand", lambda *_, **__: pytest.fail("a group is expanded"))
    specs = load_specs([tmp_path])
    sentence = (
        "The groups have 67,108,864 combinations in total, over the limit of 10,000,000. "
        "Generate them in several suites, or raise the limit with --max-cases."
    )
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        pipeline.generate(specs, tmp_path / "suite", Options())
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        next(iter(Stream(specs=specs, options=Options())))


def test_many_mistakes_are_counted_and_the_first_are_reported(tmp_path: Path) -> None:
    """Of 9,000 empty groups the first twenty are reported, and that there are more."""
    lines = message(tmp_path, "op: Split-1\ngroups:\n" + "  - {}\n" * 9_000).splitlines()

    assert lines == [
        *(f"spec.yaml:{number}:5: The keys 'id', 'title' are missing." for number in range(3, 23)),
        "… and at least 80 more.",
    ]


def test_long_mistakes_are_shortened(tmp_path: Path) -> None:
    """Each of several long mistakes is reported in one short line."""
    text = f"{HEAD}    requirements: [{', '.join([LONG] * 9)}]\n{BODY}"

    said = message(tmp_path, text)
    assert len(said.splitlines()) == 9
    assert max(map(len, said.splitlines())) < 500
