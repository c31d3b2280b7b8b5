"""Hostile specs: each must end `generate` with 2, within two seconds, and with a short message that names the file.

Every attempt is a process of its own that is forked from this one, so that it may use up its time or its memory.
"""

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from opconform_runners.cli.main import main

from .attempt import Attempt

#: The seconds of processor time that a spec may take, and those after which it is given up.
SECONDS = 2.0
_GIVEN_UP = 20
_MEMORY = 4 << 30
#: The most bytes of a message, of up to 20 mistakes.
_MESSAGE = 8_000

_HEAD = "op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n"
_RIGHT = "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5]\n"
_LONG = "x" * 100_000
_HUGE = "9" * 5_000


def _spec(lines: str, rest: str = _RIGHT) -> str:
    """A spec with one group: some lines of its own, and the keys of a right case."""
    return _HEAD + "".join(f"    {line}\n" for line in lines.splitlines()) + rest


def _keys(**keys: str) -> str:
    """A spec with one group whose inputs are as given; `none` leaves one out."""
    inputs = {"data": "{shape: [6, 2]}", "axis": "0", "split_lengths": "[1, 5]"} | keys
    return _HEAD + "".join(f"    {name}: {each}\n" for name, each in inputs.items() if each != "none")


def _axis(expression: str) -> str:
    """A spec whose axis is an expression over `n`."""
    return _spec("matrix: {n: [1]}", f"    data: {{shape: [6, 2]}}\n    axis: ${{{{ {expression} }}}}\n")


def _drawn(expression: str, count: int = 1, where: str = "") -> str:
    """A spec with a sample whose variable is an expression."""
    lines = f"random:\n  count: {count}\n  draw:\n    v: ${{{{ {expression} }}}}"
    return _spec(lines + (f"\nwhere: {where}" if where else ""))


def _split(num_splits: str, expect: str = "accept") -> str:
    """A spec of Split-1 with one group."""
    return (
        "op: Split-1\ngroups:\n  - id: a\n    title: t\n    data: {shape: [6, 2]}\n    axis: 0\n"
        f"    num_splits: {num_splits}\n    expect: {expect}\n"
    )


def _matrix(variables: int, values: int, lines: str = "") -> str:
    """A spec with a matrix of some variables that have some values each."""
    listed = "\n".join(f"  v{number}: ${{{{ range({values}) }}}}" for number in range(variables))
    return _spec(f"matrix:\n{listed}\n{lines}")


def _listed(text: str, times: int) -> str:
    """A spec whose matrix has a variable with many texts, each with a number put in."""
    return _spec("matrix:\n  n:\n" + "".join(f"    - '{text.format(number)}'\n" for number in range(times)))


_OPERATION: Mapping[str, str] = {
    "op is a list": "op: [Split-1]\ngroups: []\n",
    "op is a mapping": "op: {Split-1: 1}\ngroups: []\n",
    "op is a number": "op: 1\ngroups: []\n",
    "op is true": "op: true\ngroups: []\n",
    "op is a long text": f"op: {_LONG}\ngroups: []\n",
    "op is a text of a million letters": f"op: {'Split-' * 170_000}\ngroups: []\n",
    "op is nested lists": f"op: {'[' * 60}{']' * 60}\ngroups: []\n",
    "op is a long list": f"op: [{'1, ' * 10_000}]\ngroups: []\n",
    "op holds a NUL": 'op: "Split-1\\0"\ngroups: []\n',
    "op is an expression": "op: ${{ 'Split-1' }}\ngroups: []\n",
    "op alone": "op: Split-1\n",
    "groups alone": "groups: []\n",
    "groups is a mapping": "op: Split-1\ngroups: {a: 1}\n",
    "groups is a text": "op: Split-1\ngroups: a\n",
    "groups is an expression": "op: Split-1\ngroups: ${{ [] }}\n",
    "groups is empty": "op: Split-1\ngroups: []\n",
    "a group is null": "op: Split-1\ngroups: [null]\n",
    "a group is a number": "op: Split-1\ngroups: [1]\n",
    "a group is a list": "op: Split-1\ngroups: [[]]\n",
    "a group is an expression": "op: Split-1\ngroups: ['${{ 1 }}']\n",
    "an unknown key with a long name": f"op: Split-1\ngroups: []\n{'k' * 900}: 1\n",
    "an unknown key with a very long name": f'op: Split-1\ngroups: []\n? "{_LONG}"\n: 1\n',
}

_YAML: Mapping[str, str | bytes] = {
    "empty file": "",
    "a NUL": b"op: \0",
    "only NULs": b"\0" * 100_000,
    "UTF-16": "op: Split-1\n".encode("utf-16"),
    "UTF-32": "op: Split-1\n".encode("utf-32"),
    "Latin-1": b"op: Split-1 # \xe9\n",
    "random bytes": bytes(range(256)) * 100,
    "an ELF header": b"\x7fELF\x02\x01\x01\0" + b"\0" * 56,
    "a lone half of a surrogate pair": _spec('profile: "\\ud800"'),
    "a title with half of a surrogate pair": 'op: Split-1\ngroups:\n  - {id: a, title: "\\udfff", axis: 0}\n',
    "a key with half of a surrogate pair": 'op: Split-1\ngroups: []\n"\\ud800": 1\n',
    "a title with a NUL": _HEAD.replace("title: t", 'title: "\\0"') + _RIGHT,
    "a title with an escape": _HEAD.replace("title: t", 'title: "\\e[31m"') + _RIGHT,
    "a list that holds itself": _keys(axis="&a [*a]"),
    "a mapping that holds itself": _keys(data="&a {shape: *a}"),
    "a spec that holds itself": "&a {op: Split-1, groups: [*a]}\n",
    "a key that holds itself": "&a {? *a : 1}\n",
    "two lists that hold each other": _keys(axis="&a [&b [*a, *b]]"),
    "a billion values by aliases": "\n".join(
        ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    ),
    "an undefined alias": "op: *nowhere\n",
    "two documents": "op: Split-1\n---\nop: Split-1\n",
    "a list as a key": "[1, 2]: 3\n",
    "twice the same long key": f"{'k' * 900}: 1\n{'k' * 900}: 1\n",
    "50,000 keys, each twice": "".join(f"k{n}: 1\nk{n}: 1\n" for n in range(50_000)),
    "a Python object": _spec("profile: !!python/object/apply:os.system [id]"),
    "a tag with a long name": f"op: !{'t' * 100_000} x\n",
    "19,000 tags": "a: [" + "!t x, " * 19_000 + "]\n",
    "an unknown version of YAML": "%YAML 9.9\n---\nop: 1\n",
    "100,000 opening brackets": "[" * 100_000,
    "a million opening braces": "{" * 1_000_000,
    "100,000 nested sequences": "- " * 100_000 + "1\n",
    "100,000 nested keys": "? " * 100_000 + "1\n",
    "63 levels of lists": _keys(axis="[" * 60 + "1" + "]" * 60),
    "a million values": "a: [" + "1, " * 1_000_000 + "]\n",
    "a million lines": "- a\n" * 1_000_000,
    "a million empty lists": "[" + "[]," * 1_000_000 + "]",
    "a file of 5 MB": "# " + "x" * 5_000_000,
    "4 MB of comments": "#\n" * 2_000_000,
    "a text of 4 MB": "a: " + "x" * 4_000_000,
    "a number of 4 million digits": "a: " + "9" * 4_000_000,
    "a number over every float": _keys(data="{shape: [1], values: [1e999]}"),
    "an integer of 5,000 digits": _keys(axis=_HUGE),
    "a negative integer of 5,000 digits": _keys(axis=f"-{_HUGE}"),
    "an octal integer of 5,000 digits": _keys(axis=f"0o{'7' * 5_000}"),
    "a bit pattern of 5,000 digits": _keys(axis=f"0x{'f' * 5_000}"),
    "a merge key": _spec("<<: {profile: x}"),
    "60,000 anchors": "a: [" + "".join(f"&a{n} 1, " for n in range(60_000)) + "]\n",
}

_GROUPS: Mapping[str, str] = {
    "60,000 empty groups": "op: Split-1\ngroups:\n" + "  - {}\n" * 60_000,
    "60,000 groups that are null": "op: Split-1\ngroups:\n" + "  -\n" * 60_000,
    "9,000 misspelt keys": "op: Split-1\ngroups:\n  - id: a\n" + "".join(f"    profil{n}: 1\n" for n in range(9_000)),
    "4,000 misspelt groups": "op: Split-1\ngroups:\n" + "  - {profil: a, titel: b}\n" * 4_000,
    "4,000 equal ids": "op: Split-1\ngroups:\n" + "  - {id: a, title: t}\n" * 4_000,
    "3,000 ids that are lists": "op: Split-1\ngroups:\n" + "  - {id: [a], title: t}\n" * 3_000,
    "19,000 unknown requirements": _spec(f"requirements: [{', '.join(f'axis.rang{n}' for n in range(19_000))}]"),
    "19,000 unknown requirements in also": _spec(
        f"expect: {{reject: axis.range, also: [{', '.join(f'axis.rang{n}' for n in range(19_000))}]}}"
    ),
    "15,000 broken expressions": _listed("${{{{ {} + }}}}", 15_000),
    "9,000 expressions": _listed("${{{{ {} + 1 }}}}", 9_000),
    "9,000 variables called as a function": _spec("matrix:\n" + "  rank: [1]\n" * 9_000),
    "19,000 wrong sizes": _keys(data="{shape: [" + "-1, " * 19_000 + "]}"),
    "19,000 wrong dynamic dimensions": _spec("dynamic: [" + "x, " * 19_000 + "]"),
    "9,000 wrong bindings": _spec("binding: {" + "".join(f"b{n}: x, " for n in range(9_000)) + "}"),
    "19,000 wrong reports": _spec("seen: [" + "x, " * 19_000 + "]"),
    "a requirement with a long name": _spec(f"requirements: [{_LONG}]"),
    "an id with a long name": _HEAD.replace("id: a", f"id: {_LONG}") + _RIGHT,
    "a title of 100 kB": _HEAD.replace("title: t", f"title: {_LONG}") + _RIGHT,
    "a profile of 100 kB": _spec(f"profile: {_LONG}"),
    "a profile that is a list": _spec("profile: [core]"),
    "a variable with a long name": _spec(f"matrix:\n  {'v' * 1_000}: [1]"),
    "seen is a long text": _spec(f"seen: ['{_LONG}']"),
    "a fill of 100 kB": _keys(data=f"{{shape: [6], fill: {_LONG}}}"),
    "an element type of 100 kB": _keys(data=f"{{shape: [6], element_type: {_LONG}}}"),
    "an element type that is a list": _keys(data="{shape: [6], element_type: [f32]}"),
    "a context of 100 kB": _spec(f"context: {_LONG}"),
    "a context that is a mapping": _spec("context: {bare: 1}"),
    "a twin that is a number": _spec("twin: 1"),
    "a twin that is a list": _spec("twin: [1]"),
    "a twin with an id": _spec("twin: {id: b}"),
    "a twin that is an expression of a number": _keys(axis="9", expect="{reject: axis.range}", twin="${{ 1 }}"),
    "a twin with a broken tensor": _keys(axis="9", expect="{reject: axis.range}", twin="{axis: {values: []}}"),
    "a twin without its data": _keys(axis="9", expect="{reject: axis.range}", twin="{data: null}"),
    "expect is a list": _spec("expect: [accept]"),
    "expect rejects a list": _spec("expect: {reject: [axis.range]}"),
    "expect rejects nothing": _spec("expect: {}"),
    "expect rejects an expression of a number": _spec("expect: {reject: '${{ 1 }}'}"),
    "binding is a list": _spec("binding: [constant]"),
    "binding of an unknown input": _spec("binding: {dat: parameter}"),
    "binding with a long name": _spec(f"binding: {{{'b' * 1_000}: constant}}"),
    "dynamic of another rank": _spec("dynamic: ['?']"),
    "dynamic with bounds the wrong way round": _spec("dynamic: ['8..2', 2]"),
    "dynamic with bounds of 5,000 digits": _spec(f"dynamic: ['1..{_HUGE}', 2]"),
    "dynamic with a bound of 100 digits": _spec(f"dynamic: ['1..{'9' * 100}', 2]"),
    "dynamic with Arabic digits": _spec("dynamic: ['\u0661..\u0669', 2]"),
    "dynamic is a number": _spec("dynamic: 1"),
    "context chain of a split that is used up": _spec("context: chain"),
    "folded and bound": _spec("context: folded\nbinding: parameter"),
    "exclude is a mapping": _spec("exclude: {a: 1}"),
    "exclude is a text": _spec("exclude: x"),
    "exclude of everything": _spec("matrix: {n: [1]}\nexclude: [{}]"),
    "random is a list": _spec("random: [1]"),
    "random of nothing": _spec("random: {count: 0, draw: {n: 1}}"),
    "random without draw": _spec("random: {count: 1}"),
    "combine is a list": _spec("combine: [pairwise]"),
    "pairwise without a matrix": _spec("combine: pairwise"),
}

_CASES: Mapping[str, str] = {
    "feed without data": _keys(data="none", feed="{axis: 1}", binding="parameter"),
    "feed without data, of data": _keys(data="none", feed="{data: {shape: [6]}}", expect="{reject: data.required}"),
    "feed without anything": _HEAD + "    feed: {}\n",
    "feed is a list": _keys(feed="[1]"),
    "feed of an input that is left out": _keys(axis="none", feed="{axis: 1}", binding="parameter"),
    "feed with an expression of a number": _keys(feed="${{ 1 }}"),
    "feed of 65 dimensions": _keys(dynamic="all", feed=f"{{data: {{shape: [{'1, ' * 65}]}}}}"),
    "no input at all": _HEAD,
    "rank 65": _keys(data=f"{{shape: [{'1, ' * 65}]}}"),
    "rank 65 of zeros": _keys(data=f"{{shape: [{'0, ' * 65}]}}"),
    "rank 1,000": _keys(data=f"{{shape: [{'1, ' * 1_000}]}}"),
    "axis of rank 65": _keys(axis=f"{{shape: [{'1, ' * 65}], values: [0]}}"),
    "a size of 10^30 beside 0": _keys(data=f"{{shape: [0, {10**30}]}}"),
    "a size of 2^63": _keys(data=f"{{shape: [{1 << 63}]}}"),
    "a size of 2^63 beside 0": _keys(data=f"{{shape: [0, {1 << 63}]}}"),
    "sizes that multiply to 2^80 beside 0": _keys(data=f"{{shape: [0, {1 << 40}, {1 << 40}]}}"),
    "a size of 10^399": _keys(data=f"{{shape: [{10**399}]}}"),
    "a size of 1.5": _keys(data="{shape: [1.5]}"),
    "a size of true": _keys(data="{shape: [true]}"),
    "a size of -1": _keys(data="{shape: [-1]}"),
    "a shape that is a text": _keys(data="{shape: '[6]'}"),
    "a shape with an expression of a text": _keys(data="{shape: ['${{ \"6\" }}']}"),
    "an axis of 16 million elements": _keys(axis="{shape: [16777216], fill: constant, value: 0}"),
    "lengths of 16 million elements": _keys(split_lengths="{shape: [16777216], fill: constant, value: 1}"),
    "lengths of 5,000 elements": _keys(data="{shape: [5000]}", split_lengths="${{ repeat(1, 5000) }}"),
    "values that are a mapping": _keys(axis="{values: {a: 1}}"),
    "values that hold a mapping": _keys(axis="{values: [{a: 1}]}"),
    "values that hold a null": _keys(axis="{values: [null]}"),
    "values of 60 levels": _keys(data="{values: " + "[" * 58 + "1" + "]" * 58 + "}", axis="99"),
    "values of texts for numbers": _keys(axis="[zero]"),
    "values of a text of 100 kB for a number": _keys(axis=f"[{_LONG}]"),
    "values of an expression of 100,000 texts": _keys(axis="${{ repeat('x', 100000) }}"),
    "values nested unevenly": _keys(axis="[[1], 2]"),
    "19,000 values of an unknown kind": _keys(axis="[" + "zero, " * 19_000 + "]"),
    "a text that ends in NUL": _keys(data='{element_type: string, values: ["a\\0"]}'),
    "a text with half of a surrogate pair": _keys(data='{element_type: string, values: ["\\ud800"]}'),
    "a constant without a value": _keys(data="{shape: [6], fill: constant}"),
    "a value without a constant": _keys(data="{shape: [6], value: 1}"),
    "a value that is a list": _keys(data="{shape: [6], fill: constant, value: [1]}"),
    "a value of 10^399": _keys(data=f"{{shape: [6], fill: constant, value: {10**399}}}"),
    "an attribute that holds a NUL": _split('"3\\0"', "{reject: num_splits.type}"),
    "an attribute that holds a control character": _split('"\\x01"', "{reject: num_splits.type}"),
    "an attribute that holds half of a surrogate pair": _split('"\\ud800"', "{reject: num_splits.type}"),
    "an attribute of 100 kB": _split(_LONG),
    "an attribute of 10^399": _split(str(10**399)),
    "an attribute of 5,000 digits": _split(_HUGE),
    "an attribute that is a list": _split("[3]"),
    "an attribute of infinity": _split("${{ 1e999 }}"),
    "an attribute of 4,097 outputs": _split("4097"),
    "an attribute of an operation that has none": _keys(num_splits="3"),
    "accepted with a wrong axis": _keys(axis="9"),
    "rejected and right": _keys(expect="{reject: axis.range}"),
}

_EXPRESSIONS: Mapping[str, str] = {
    "an infinity in a list": _keys(axis="${{ [1e999] }}"),
    "an infinity": _axis("1e999"),
    "a NaN": _axis("1e999 - 1e999"),
    "a NaN in a draw": _drawn("[1e999 - 1e999]"),
    "an infinity in the matrix": _spec("matrix: {n: '${{ [1e999] }}'}"),
    "an infinity in an element of the matrix": _spec("matrix: {n: ['${{ 1e999 }}']}"),
    "a failing element of the matrix": _spec("matrix: {n: ['${{ 1 / 0 }}']}"),
    "an unknown name in an element of the matrix": _spec("matrix: {n: ['${{ m }}']}"),
    "a matrix of a number": _spec("matrix: {n: '${{ 1 }}'}"),
    "a matrix of a long text": _spec("matrix: {n: '${{ \"x\" * 100000 }}'}"),
    "an empty expression": _axis(""),
    "an expression of 100 kB": _axis("1" + " + 1" * 25_000),
    "an expression of 4 MB": _axis("1" + " + 1" * 900_000),
    "an expression of 300 brackets": _axis("(" * 300 + "1" + ")" * 300),
    "an expression of 100,000 brackets": _axis("(" * 100_000 + "1" + ")" * 100_000),
    "an expression of 400 minus signs": _axis("-" * 400 + "1"),
    "an expression of 300 nested lists": _axis("[" * 300 + "1" + "]" * 300),
    "an expression of 150 nested calls": _axis("abs(" * 150 + "1" + ")" * 150),
    "a number of 5,000 digits": _axis(_HUGE),
    "a number of 900 digits to the 5th": _axis("9" * 900 + " ** 5"),
    "9 ** 9 ** 9": _axis("9 ** 9 ** 9"),
    "a complex number": _axis("(0 - 1) ** 0.5"),
    "2.0 ** 5000": _axis("2.0 ** 5000"),
    "a text times a billion": _axis("'x' * 10 ** 9"),
    "a list times a billion": _axis("[0] * 10 ** 9"),
    "a list times a number drawn from itself": _axis("[[0] * 99999] * 99999"),
    "product of a list and a billion": _axis("product([[0], 10 ** 9])"),
    "product of a text and a billion": _axis("product(['x', 10 ** 9])"),
    "product of 100,000 wide numbers": _axis("product(repeat(2 ** 4000, 100000))"),
    "product of 100,000 numbers": _axis("product(range(1, 100000))"),
    "sum of lists": _axis("sum([[1], [2]])"),
    "repeat of a billion": _axis("repeat(0, 10 ** 9)"),
    "nested repeat": _axis("repeat(repeat(repeat(0, 100000), 100000), 100000)"),
    "twice nested repeat": _axis("repeat(repeat(0, 100000), 100000)"),
    "repeat of a long text": _axis("repeat('x' * 100000, 100000)"),
    "repeat of nothing": _axis("repeat(0, 'x')"),
    "a long text joined with itself": _axis("'x' * 100000 ~ " + " ~ ".join(["'x' * 100000"] * 60)),
    "a list joined with itself": _axis("range(100000) ~ range(100000)"),
    "range of a billion": _axis("range(10 ** 9)"),
    "range of 10^300": _axis("range(10 ** 300)"),
    "range by 0": _axis("range(0, 1, 0)"),
    "divisors of a list": _axis("divisors([1])"),
    "60 times the divisors of a million": _axis(" + ".join(["sum(divisors(1000000))"] * 60)),
    "sorted by a function": _axis("sorted([1], key=1)"),
    "len of a number": _axis("len(1)"),
    "insert into a text": _axis("insert('abc', 1, 2)"),
    "insert by insert": _axis("insert(" * 100 + "[]" + ", 0, range(100000))" * 100),
    "replace out of range": _axis("replace([1], 9, 1)"),
    "a call of a number": _axis("n()"),
    "an attribute": _axis("n.__class__"),
    "an item that is none": _axis("n['__class__']"),
    "a format": _axis("'%1000000000d' % n"),
    "a filter": _axis("n | string"),
    "a test": _axis("n is foo"),
    "self": _axis("self"),
    "loop": _axis("loop.index"),
    "super": _axis("super()"),
    "caller": _axis("caller()"),
    "a function as a value": _axis("range"),
    "a statement": _axis("n }} {% set x = 1 %} {{ n"),
    "a mapping": _axis("{'a': 1}"),
    "a mapping with a list as a key": _axis("{[1]: 1}"),
    "a text of 100,000 letters for an axis": _axis("'x' * 100000"),
    "where of 100 kB": _spec(f"matrix: {{n: [1]}}\nwhere: n == {'1 + ' * 25_000}1"),
    "where of a list": _spec("matrix: {n: [1]}\nwhere: '[n] * 1000'"),
    "where of a long text": _spec("matrix: {n: [1]}\nwhere: '\"x\" * 100000'"),
    "where is a list": _spec("matrix: {n: [1]}\nwhere: [n]"),
    "a failing expression beside long variables": _spec(
        f"matrix: {{n: [{_LONG}], m: [[{'1, ' * 5_000}]]}}", _RIGHT.replace("axis: 0", "axis: ${{ n / m }}")
    ),
}

_DOMAINS: Mapping[str, str] = {
    "a matrix of a billion": _matrix(3, 1_000),
    "a matrix of 10^50": _matrix(50, 10),
    "pairwise of 5 x 2,000": _matrix(5, 2_000, "combine: pairwise"),
    "pairwise of 30 x 30": _matrix(30, 30, "combine: pairwise"),
    "pairwise of 200 x 10": _matrix(200, 10, "combine: pairwise"),
    "pairwise of 3,000 x 2": _matrix(3_000, 2, "combine: pairwise").replace("range(2)", "[0, 1]"),
    "pairwise of two long lists": _matrix(2, 50_000, "combine: pairwise"),
    "pairwise with a filter that is false": _matrix(12, 8, "combine: pairwise\nwhere: v0 + v11 > 99"),
    "pairwise with a filter of all variables": _matrix(
        12, 8, "combine: pairwise\nwhere: " + " + ".join(f"v{n}" for n in range(12)) + " == 84"
    ),
    "100,000 combinations, none of which is left": _matrix(2, 300, "where: v0 > 300"),
    "exclude by 1,000": _matrix(2, 300, "exclude: [" + "{v0: 1, v1: -1}, " * 1_000 + "]"),
    "exclude by 4,000": _matrix(2, 300, "exclude: [" + "{v0: -1}, " * 4_000 + "]"),
    "a matrix of long lists": _matrix(2, 300, "where: v0 < 0").replace("range(300)", "repeat(range(300), 300)"),
    "a matrix of a million": _matrix(2, 1_000),
    "long expressions in 90,000 cases": _matrix(2, 300, "where: sum(range(100000)) < v0"),
    "nested lists compared in 90,000 cases": _matrix(2, 300, "where: repeat(v0, 50000) == repeat(v1 + 300, 50000)"),
    "a sample of an empty domain": _drawn("random_integer(0, 9)", 100_000, "v > 9"),
    "a sample of a small empty domain": _drawn("random_integer(0, 9)", 10, "v > 9"),
    "a sample of one value": _drawn("random_integer(0, 0)", 100_000),
    "a sample of few values": _drawn("random_integer(0, 99)", 100_000),
    "a sample of a billion": _drawn("random_integer(0, 9)", 10**9),
    "a sample of 10^300": _drawn("random_integer(0, 9)", 10**300),
    "a sample of long values": _drawn("repeat(random_integer(0, 9), 90000)", 100_000, "v[0] > 9"),
    "a sample of a matrix that has 90,000": _matrix(
        2, 300, "random: {count: 1000, draw: {v: '${{ random_integer(0, 9) }}'}}\nwhere: v > 9"
    ),
    "random_shape of a billion dimensions": _drawn("random_shape(10 ** 9, 10 ** 9, 0, 9)"),
    "random_shape of 100,000 dimensions": _drawn("random_shape(100000, 100000, 0, 9)"),
    "random_shape of a negative rank": _drawn("random_shape(-5, -1, 0, 9) + 1"),
    "random_shape the wrong way round": _drawn("random_shape(5, 1, 0, 9)"),
    "random_partition into a billion": _drawn("random_partition(9, 10 ** 9)"),
    "random_partition of a negative total": _drawn("random_partition(-9, 3)"),
    "random_partition into nothing": _drawn("random_partition(9, 0)"),
    "random_shuffle of a long list": _drawn("random_shuffle(range(100000))", 50, "v[0] < 0"),
    "random_shuffle of a text": _drawn("random_shuffle(5)"),
    "random_choice of nothing": _drawn("random_choice([])"),
    "random_integer of nothing": _drawn("random_integer(5, 1)"),
    "random_integer of 2^65": _drawn("random_integer(0, 2 ** 65)"),
    "random_integer of fractions": _drawn("random_integer(0.5, 3.25)"),
    "random_integer of texts": _drawn("random_integer('a', 'b')"),
    "random_integer outside of a sample": _axis("random_integer(0, 1)"),
}

#: Every hostile spec by what it tries.
SPECS: Mapping[str, str | bytes] = {
    **_OPERATION,
    **_YAML,
    **_GROUPS,
    **_CASES,
    **_EXPRESSIONS,
    **_DOMAINS,
}


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """Each hostile spec, or the first `count`."""
    for name in list(SPECS)[:count]:
        yield _attempt(scratch, name)


def _attempt(scratch: Path, name: str) -> Attempt:
    content = SPECS[name]
    (scratch / "spec.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    process = multiprocessing.get_context("fork").Process(target=_generate, args=(scratch,))
    before, started = _computed(), time.monotonic()
    process.start()
    process.join(_GIVEN_UP * 10)
    if process.is_alive():
        process.kill()
        process.join()
        return Attempt(what=name, outcome="hang", detail=f"no end after {time.monotonic() - started:.0f} s")
    seconds, message = _computed() - before, (scratch / "message").read_text(errors="replace")
    if process.exitcode is not None and process.exitcode < 0:
        return Attempt(what=name, outcome="hang", detail=f"ended by signal {-process.exitcode} after {seconds:.1f} s")
    if process.exitcode != 2 or "Traceback" in message or not message.startswith("error: spec.yaml:"):  # noqa: PLR2004
        return Attempt(what=name, outcome="traceback", detail=f"exit code {process.exitcode}: {message[:300]}")
    if seconds > SECONDS:
        return Attempt(what=name, outcome="hang", detail=f"{seconds:.1f} s of processor time: {message[:100]}")
    if len(message.encode()) > _MESSAGE:
        return Attempt(what=name, outcome="traceback", detail=f"{len(message):,} letters: {message[:300]}")
    return Attempt(what=name, outcome="held", detail=message)


def _computed() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _generate(scratch: Path) -> None:
    """Run `opconform generate` here, with all that it prints in a file, and end with its exit code."""
    resource.setrlimit(resource.RLIMIT_CPU, (_GIVEN_UP, _GIVEN_UP))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.chdir(scratch)
    with Path("message").open("wb") as message:
        os.dup2(message.fileno(), sys.stdout.fileno())
        os.dup2(message.fileno(), sys.stderr.fileno())
    sys.argv = ["opconform", "generate", "spec.yaml", "--out", "suite", "--jobs", "1"]
    main()
