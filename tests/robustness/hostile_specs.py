"""Hostile specs: `generate` must refuse each of them in time, and with a short message that names the file."""

from collections.abc import Mapping

from tests.robustness.hostile_expressions import DOMAINS, EXPRESSIONS
from tests.robustness.spec_texts import HEAD, HUGE, LONG, RIGHT, keys, listed, spec, split

_OPERATION: Mapping[str, str] = {
    "op is a text of a million letters": f"op: {'Split-' * 170_000}\ngroups: []\n",
    "op is nested lists": f"op: {'[' * 60}{']' * 60}\ngroups: []\n",
    "op is a long list": f"op: [{'1, ' * 10_000}]\ngroups: []\n",
    "op holds a NUL": 'op: "Split-1\\0"\ngroups: []\n',
    "an unknown key with a long name": f"op: Split-1\ngroups: []\n{'k' * 900}: 1\n",
    "an unknown key with a very long name": f'op: Split-1\ngroups: []\n? "{LONG}"\n: 1\n',
}

_YAML: Mapping[str, str | bytes] = {
    "a NUL": b"op: \0",
    "only NULs": b"\0" * 100_000,
    "UTF-16": "op: Split-1\n".encode("utf-16"),
    "UTF-32": "op: Split-1\n".encode("utf-32"),
    "Latin-1": b"op: Split-1 # \xe9\n",
    "random bytes": bytes(range(256)) * 100,
    "an ELF header": b"\x7fELF\x02\x01\x01\0" + b"\0" * 56,
    "a lone half of a surrogate pair": spec('profile: "\\ud800"'),
    "a title with half of a surrogate pair": 'op: Split-1\ngroups:\n  - {id: a, title: "\\udfff", axis: 0}\n',
    "a key with half of a surrogate pair": 'op: Split-1\ngroups: []\n"\\ud800": 1\n',
    "a title with a NUL": HEAD.replace("title: t", 'title: "\\0"') + RIGHT,
    "a title with an escape": HEAD.replace("title: t", 'title: "\\e[31m"') + RIGHT,
    "a list that holds itself": keys(axis="&a [*a]"),
    "a mapping that holds itself": keys(data="&a {shape: *a}"),
    "a spec that holds itself": "&a {op: Split-1, groups: [*a]}\n",
    "a key that holds itself": "&a {? *a : 1}\n",
    "two lists that hold each other": keys(axis="&a [&b [*a, *b]]"),
    "a billion values by aliases": "\n".join(
        ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    ),
    "an undefined alias": "op: *nowhere\n",
    "two documents": "op: Split-1\n---\nop: Split-1\n",
    "a list as a key": "[1, 2]: 3\n",
    "twice the same long key": f"{'k' * 900}: 1\n{'k' * 900}: 1\n",
    "50,000 keys, each twice": "".join(f"k{n}: 1\nk{n}: 1\n" for n in range(50_000)),
    "a tag with a long name": f"op: !{'t' * 100_000} x\n",
    "19,000 tags": "a: [" + "!t x, " * 19_000 + "]\n",
    "an unknown version of YAML": "%YAML 9.9\n---\nop: 1\n",
    "100,000 opening brackets": "[" * 100_000,
    "a million opening braces": "{" * 1_000_000,
    "100,000 nested sequences": "- " * 100_000 + "1\n",
    "100,000 nested keys": "? " * 100_000 + "1\n",
    "63 levels of lists": keys(axis="[" * 60 + "1" + "]" * 60),
    "a million values": "a: [" + "1, " * 1_000_000 + "]\n",
    "a million lines": "- a\n" * 1_000_000,
    "a million empty lists": "[" + "[]," * 1_000_000 + "]",
    "a file of 5 MB": "# " + "x" * 5_000_000,
    "4 MB of comments": "#\n" * 2_000_000,
    "a text of 4 MB": "a: " + "x" * 4_000_000,
    "a number of 4 million digits": "a: " + "9" * 4_000_000,
    "a number over every float": keys(data="{shape: [1], values: [1e999]}"),
    "an integer of 5,000 digits": keys(axis=HUGE),
    "a negative integer of 5,000 digits": keys(axis=f"-{HUGE}"),
    "an octal integer of 5,000 digits": keys(axis=f"0o{'7' * 5_000}"),
    "a bit pattern of 5,000 digits": keys(axis=f"0x{'f' * 5_000}"),
    "60,000 anchors": "a: [" + "".join(f"&a{n} 1, " for n in range(60_000)) + "]\n",
}

_GROUPS: Mapping[str, str] = {
    "60,000 empty groups": "op: Split-1\ngroups:\n" + "  - {}\n" * 60_000,
    "60,000 groups that are null": "op: Split-1\ngroups:\n" + "  -\n" * 60_000,
    "9,000 misspelt keys": "op: Split-1\ngroups:\n  - id: a\n" + "".join(f"    profil{n}: 1\n" for n in range(9_000)),
    "4,000 misspelt groups": "op: Split-1\ngroups:\n" + "  - {profil: a, titel: b}\n" * 4_000,
    "4,000 equal ids": "op: Split-1\ngroups:\n" + "  - {id: a, title: t}\n" * 4_000,
    "3,000 ids that are lists": "op: Split-1\ngroups:\n" + "  - {id: [a], title: t}\n" * 3_000,
    "19,000 unknown requirements": spec(f"requirements: [{', '.join(f'axis.rang{n}' for n in range(19_000))}]"),
    "19,000 unknown requirements in also": spec(
        f"expect: {{reject: axis.range, also: [{', '.join(f'axis.rang{n}' for n in range(19_000))}]}}"
    ),
    "15,000 broken expressions": listed("${{{{ {} + }}}}", 15_000),
    "9,000 expressions": listed("${{{{ {} + 1 }}}}", 9_000),
    "9,000 variables called as a function": spec("matrix:\n" + "  rank: [1]\n" * 9_000),
    "19,000 wrong sizes": keys(data="{shape: [" + "-1, " * 19_000 + "]}"),
    "19,000 wrong dynamic dimensions": spec("dynamic: [" + "x, " * 19_000 + "]"),
    "9,000 wrong bindings": spec("binding: {" + "".join(f"b{n}: x, " for n in range(9_000)) + "}"),
    "19,000 wrong reports": spec("seen: [" + "x, " * 19_000 + "]"),
    "a requirement with a long name": spec(f"requirements: [{LONG}]"),
    "an id with a long name": HEAD.replace("id: a", f"id: {LONG}") + RIGHT,
    "a title of 100 kB": HEAD.replace("title: t", f"title: {LONG}") + RIGHT,
    "a profile of 100 kB": spec(f"profile: {LONG}"),
    "a variable with a long name": spec(f"matrix:\n  {'v' * 1_000}: [1]"),
    "seen is a long text": spec(f"seen: ['{LONG}']"),
    "a fill of 100 kB": keys(data=f"{{shape: [6], fill: {LONG}}}"),
    "an element type of 100 kB": keys(data=f"{{shape: [6], element_type: {LONG}}}"),
    "a context of 100 kB": spec(f"context: {LONG}"),
    "binding with a long name": spec(f"binding: {{{'b' * 1_000}: constant}}"),
    "dynamic with a bound of 100 digits": spec(f"dynamic: ['1..{'9' * 100}', 2]"),
    "dynamic with Arabic digits": spec("dynamic: ['\u0661..\u0669', 2]"),
}

_CASES: Mapping[str, str] = {
    "feed of 65 dimensions": keys(dynamic="all", feed=f"{{data: {{shape: [{'1, ' * 65}]}}}}"),
    "no input at all": HEAD,
    "rank 65": keys(data=f"{{shape: [{'1, ' * 65}]}}"),
    "rank 65 of zeros": keys(data=f"{{shape: [{'0, ' * 65}]}}"),
    "rank 1,000": keys(data=f"{{shape: [{'1, ' * 1_000}]}}"),
    "axis of rank 65": keys(axis=f"{{shape: [{'1, ' * 65}], values: [0]}}"),
    "a size of 10^30 beside 0": keys(data=f"{{shape: [0, {10**30}]}}"),
    "a size of 2^63": keys(data=f"{{shape: [{1 << 63}]}}"),
    "a size of 2^63 beside 0": keys(data=f"{{shape: [0, {1 << 63}]}}"),
    "sizes that multiply to 2^80 beside 0": keys(data=f"{{shape: [0, {1 << 40}, {1 << 40}]}}"),
    "a size of 10^399": keys(data=f"{{shape: [{10**399}]}}"),
    "an axis of 16 million elements": keys(axis="{shape: [16777216], fill: constant, value: 0}"),
    "lengths of 16 million elements": keys(split_lengths="{shape: [16777216], fill: constant, value: 1}"),
    "lengths of 5,000 elements": keys(data="{shape: [5000]}", split_lengths="${{ repeat(1, 5000) }}"),
    "values of 60 levels": keys(data="{values: " + "[" * 58 + "1" + "]" * 58 + "}", axis="99"),
    "values of a text of 100 kB for a number": keys(axis=f"[{LONG}]"),
    "values of an expression of 100,000 texts": keys(axis="${{ repeat('x', 100000) }}"),
    "19,000 values of an unknown kind": keys(axis="[" + "zero, " * 19_000 + "]"),
    "a text that ends in NUL": keys(data='{element_type: string, values: ["a\\0"]}'),
    "a text with half of a surrogate pair": keys(data='{element_type: string, values: ["\\ud800"]}'),
    "a value of 10^399": keys(data=f"{{shape: [6], fill: constant, value: {10**399}}}"),
    "an attribute that holds a NUL": split('"3\\0"', "{reject: num_splits.type}"),
    "an attribute that holds a control character": split('"\\x01"', "{reject: num_splits.type}"),
    "an attribute that holds half of a surrogate pair": split('"\\ud800"', "{reject: num_splits.type}"),
    "an attribute of 100 kB": split(LONG),
    "an attribute of 10^399": split(str(10**399)),
    "an attribute of 5,000 digits": split(HUGE),
    "an attribute of infinity": split("${{ 1e999 }}"),
    "an attribute of 4,097 outputs": split("4097"),
}

#: Every hostile spec by what it tries.
SPECS: Mapping[str, str | bytes] = {**_OPERATION, **_YAML, **_GROUPS, **_CASES, **EXPRESSIONS, **DOMAINS}
