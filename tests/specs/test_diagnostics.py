"""Wrong specs: each a clear sentence with its place, all of a file at once, and quickly."""

import os
import resource
from pathlib import Path

import pytest

from tests.conftest import Run

HEAD = "op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n"
BODY = "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5]\n"

MISTAKES = {
    "misspelt key": (
        HEAD + "    profil: core\n" + BODY,
        "spec.yaml:5:5: Unknown key 'profil'. Did you mean 'profile'? Allowed: axis, binding, combine",
    ),
    "misspelt operation": (
        "op: VariadicSplit1\ngroups: []\n",
        "spec.yaml:1:5: op: 'VariadicSplit1' is not a known operation. Did you mean 'VariadicSplit-1'?",
    ),
    "missing key": ("op: Split-1\n", "spec.yaml:1:1: The key 'groups' is missing."),
    "missing key beside an unknown one": (
        "op: Split-1\ngroups:\n  - id: a\n    axs: 0\n",
        "spec.yaml:3:5: The key 'title' is missing.\nspec.yaml:4:5: Unknown key 'axs'. Did you mean 'axis'?",
    ),
    "wrong type": (
        HEAD + "    data: {shape: 6}\n    axis: 0\n    split_lengths: [6]\n",
        "spec.yaml:5:19: shape: 6 is not allowed: it must be a list.",
    ),
    "matrix without a list": (
        HEAD + "    matrix: {axis: 0}\n" + BODY,
        "spec.yaml:5:20: matrix.axis: 0 is not allowed: it must be a list.",
    ),
    "wrong fill": (
        HEAD + "    data: {shape: [6], fill: rmp}\n    axis: 0\n    split_lengths: [6]\n",
        "spec.yaml:5:30: fill: 'rmp' is not allowed: it must be 'ramp', 'small', 'bits', 'special' or 'constant'. Did you mean 'ramp'?",
    ),
    "wrong element type": (
        HEAD + "    data: {shape: [6], element_type: float32}\n    axis: 0\n    split_lengths: [6]\n",
        "spec.yaml:5:38: element_type: 'float32' is not allowed: it must be 'boolean', 'bf16', 'f16', 'f32'",
    ),
    "element type of numpy": (
        HEAD + "    data: {shape: [6], element_type: int8}\n    axis: 0\n    split_lengths: [6]\n",
        " or 'string'. Did you mean 'i8'?\n",
    ),
    "element type as numpy calls it": (
        HEAD + "    data: {shape: [6, 2], dtype: f32}\n    axis: 0\n    split_lengths: [6]\n",
        "spec.yaml:5:27: Unknown key 'dtype'. Did you mean 'element_type'? Allowed: element_type, fill, shape, value, values.\n",
    ),
    "variable without brackets among elements": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [6]}\n    axis: 0\n    split_lengths: [-1, n]\n",
        (
            "spec.yaml:8:20: group 'a': split_lengths: 'n' is not an integer, which i64 requires; write \"${{ n }}\" for the "
            "variable (with n=6).\n"
        ),
    ),
    "variable without brackets in a shape": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [n]}\n    axis: 0\n    split_lengths: [6]\n",
        "spec.yaml:6:20: shape: 'n' is not allowed: it must be an integer; write \"${{ n }}\" for the variable.\n",
    ),
    "drawn variable without brackets": (
        HEAD + "    random: {count: 1, draw: {n: '${{ random_integer(1, 2) }}'}}\n    data: {shape: [6]}\n"
        "    axis: 0\n    split_lengths: [n, -1]\n",
        '; write "${{ n }}" for the variable (with n=',
    ),
    "dynamic dimension as in OpenVINO": (
        HEAD + BODY + "    dynamic: [-1, 2]\n",
        'spec.yaml:8:15: dynamic: -1 is not allowed: it must be a size, "?" or bounds such as "2..8". Did you mean "?"?\n',
    ),
    "dynamic dimension that is null": (
        HEAD + BODY + "    dynamic: {data: [null, 2]}\n",
        'spec.yaml:8:22: data: null is not allowed: it must be a size, "?" or bounds such as "2..8". Did you mean "?"?\n',
    ),
    "bracket that is not closed": (
        HEAD + "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5\n    context: bare\n",
        "spec.yaml:7:20: This is not YAML: the '[' is not closed; ',' or ']' is expected at line 8, column 12.\n",
    ),
    "bracket that is not closed at the end": (
        HEAD + "    data: {shape: [6, 2]\n",
        "spec.yaml:5:11: This is not YAML: the '{' is not closed; ',' or '}' is expected at line 6, column 1.\n",
    ),
    "bracket that is closed by another": (
        HEAD + "    data: {shape: [6, 2}\n    axis: 0\n    split_lengths: [1, 5]\n",
        "spec.yaml:5:19: This is not YAML: the '[' is not closed; ',' or ']' is expected at line 5, column 24.\n",
    ),
    "quote that is not closed": (
        HEAD + "    profile: 'core\n" + BODY,
        "spec.yaml:5:14: This is not YAML: the quote is not closed.\n",
    ),
    "wrong key of a second feed": (
        HEAD + BODY + "    feed: {data: {element_type: f32, shape: [6, 3]}}\n",
        "spec.yaml:8:45: group 'a': feed: data of shape [6, 3] does not fit the IR's [6, 2]; see `dynamic`.\n",
    ),
    "too large second feed": (
        HEAD + BODY + "    dynamic: all\n    feed: {data: {shape: [1000000, 1000000]}}\n",
        "spec.yaml:9:26: group 'a': feed: data: a shape of 1,000,000,000,000 elements is over the limit of 16,777,216; ",
    ),
    "wrong key of one of several tensors": (
        (
            "op: Concat-1\ngroups:\n  - id: a\n    title: t\n    inputs: [{shape: [1]}, {element_type: i8, values: [300]}]\n"
            "    axis: 0\n"
        ),
        "spec.yaml:5:55: group 'a': inputs: 300 is not in the range of i8, -128 to 127.\n",
    ),
    "wrong key of a twin": (
        HEAD + "    data: {shape: [6]}\n    axis: 0\n    split_lengths: [5]\n    expect: {reject: lengths.sum}\n"
        "    twin: {split_lengths: {element_type: i8, values: [600]}}\n",
        "spec.yaml:9:54: group 'a': split_lengths: 600 is not in the range of i8, -128 to 127.\n",
    ),
    "binding of an unknown input": (
        HEAD + BODY + "    binding: {axis: parameter, axs: parameter}\n",
        "spec.yaml:8:32: group 'a': binding: 'axs' is not an input of the case; allowed: data, axis, split_lengths.\n",
    ),
    "fill that is not alike any": (
        HEAD + "    data: {shape: [6], fill: random}\n    axis: 0\n    split_lengths: [6]\n",
        "fill: 'random' is not allowed: it must be 'ramp', 'small', 'bits', 'special' or 'constant'.\n",
    ),
    "unknown requirement": (
        HEAD + "    requirements: [axis.rang]\n" + BODY,
        "spec.yaml:5:20: 'axis.rang' is not a requirement of VariadicSplit-1. Did you mean 'axis.range'?",
    ),
    "unreadable expression": (
        HEAD + "    data: {shape: [6]}\n    axis: ${{ 1 + }}\n    split_lengths: [6]\n",
        "spec.yaml:6:11: `1 +` cannot be read:",
    ),
    "failing expression": (
        HEAD + "    matrix: {n: [0, 1]}\n    data: {shape: [6]}\n    axis: ${{ 1 / n }}\n    split_lengths: [6]\n",
        "spec.yaml:7:11: group 'a': `1 / n` fails: division by zero, with n=0.",
    ),
    "mistyped function": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [6]}\n    axis: ${{ divisor(n)[0] }}\n    split_lengths: [6]\n",
        "spec.yaml:7:11: group 'a': `divisor(n)[0]` fails: 'divisor' is undefined (did you mean 'divisors'?), with n=6.",
    ),
    "unknown function": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [6]}\n    axis: ${{ size(n) }}\n    split_lengths: [6]\n",
        "`size(n)` fails: 'size' is undefined (functions: abs, divisors, insert, len, ",
    ),
    "function with too few arguments": (
        HEAD + "    random: {count: 1, draw: {n: '${{ random_integer(3) }}'}}\n" + BODY,
        "`random_integer(3)` fails: random_integer() missing 1 required positional argument: 'high'",
    ),
    "method": (
        HEAD
        + "    matrix: {n: [6]}\n    data: {shape: [6]}\n    axis: ${{ n.bit_length() }}\n    split_lengths: [6]\n",
        "`n.bit_length()` fails: a value has no attributes and methods, with n=6.",
    ),
    "filter": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [6]}\n    axis: ${{ n | abs }}\n    split_lengths: [6]\n",
        "`n | abs` cannot be read: unknown filter 'abs'.",
    ),
    "expression with one bracket": (
        HEAD + "    matrix: {n: [0]}\n    data: {shape: [6]}\n    axis: ${ n }\n    split_lengths: [6]\n",
        "spec.yaml:7:11: '${ n }' is not an expression, which is ${{ … }}.\n",
    ),
    "expression without a dollar": (
        HEAD + "    matrix: {n: [0]}\n    data: {shape: [6]}\n    axis: '{{ n }}'\n    split_lengths: [6]\n",
        "spec.yaml:7:11: '{{ n }}' is not an expression, which is ${{ … }}.\n",
    ),
    "title without text": (
        HEAD.replace("title: t", "title:") + BODY,
        "title: null is not allowed: it must be a string.\n",
    ),
    "constant fill without a value": (
        HEAD + "    data: {shape: [6], fill: constant}\n    axis: 0\n    split_lengths: [6]\n",
        "data: `fill: constant` needs a `value`.\n",
    ),
    "requirement with its operation": (
        HEAD + "    requirements: ['VariadicSplit-1:axis.range']\n" + BODY,
        "is not a requirement of VariadicSplit-1. Did you mean 'axis.range'? `opconform list VariadicSplit-1 --requirements` lists them.\n",
    ),
    "exclude in the matrix": (
        HEAD + "    matrix: {n: [0], exclude: [{n: 1}]}\n" + BODY,
        "spec.yaml:5:22: Write 'exclude' beside `matrix`, not in it.",
    ),
    "variable as in GitHub Actions": (
        HEAD + "    matrix: {ax: [0]}\n    data: {shape: [6]}\n    axis: ${{ matrix.ax }}\n    split_lengths: [6]\n",
        "`matrix.ax` fails: 'matrix' is undefined (write a variable without `matrix.`), with ax=0.",
    ),
    "unknown variable": (
        HEAD + "    matrix: {n: [0]}\n    data: {shape: [6]}\n    axis: ${{ m }}\n    split_lengths: [6]\n",
        "spec.yaml:7:11: group 'a': `m` is undefined; defined variables: n=0.",
    ),
    "attribute access": (
        HEAD + "    data: {shape: [6]}\n    axis: ${{ ''.__class__.__mro__ }}\n    split_lengths: [6]\n",
        "spec.yaml:6:11: group 'a': `''.__class__.__mro__`",
    ),
    "text with an expression": (
        HEAD + "    data: {shape: [6], element_type: 'f${{ 32 }}'}\n    axis: 0\n    split_lengths: [6]\n",
        "mixes text with an expression; an expression must be the whole value.",
    ),
    "variable called as a function": (
        HEAD + "    matrix: {rank: [1]}\n" + BODY,
        "spec.yaml:5:14: 'rank' is the name of a function. Rename the variable.",
    ),
    "matrix of a billion cases": (
        HEAD
        + "".join(f"    {'matrix:' if n == 0 else '       '} \n" for n in range(1))
        + "".join(f"      v{n}: ${{{{ range(1000) }}}}\n" for n in range(3))
        + BODY,
        "group 'a': the matrix has 1,000,000,000 combinations, over the limit of 100,000.",
    ),
    "shape of a trillion elements": (
        HEAD + "    data: {shape: [1000000, 1000000]}\n    axis: 0\n    split_lengths: [1000000]\n",
        "spec.yaml:5:19: group 'a': data: a shape of 1,000,000,000,000 elements is over the limit of 16,777,216",
    ),
    "draws of a billion": (
        HEAD + "    random: {count: 1000000000, draw: {n: '${{ random_integer(0, 9) }}'}}\n" + BODY,
        "group 'a': 1,000,000,000 cases are over the limit of 100,000.",
    ),
    "draws of more than there is": (
        HEAD
        + "    random: {count: 50, draw: {n: '${{ random_integer(0, 1) }}'}}\n    data: {shape: ['${{ 5 + n }}']}\n"
        "    axis: 0\n    split_lengths: [-1]\n",
        "draws produce only 2 of 50 cases; widen the draws.",
    ),
    "value out of range": (
        HEAD + "    data: {shape: [6]}\n    axis: {element_type: i8, values: 300}\n    split_lengths: [6]\n",
        "spec.yaml:6:38: group 'a': axis: 300 is not in the range of i8, -128 to 127.",
    ),
    "values of another shape": (
        HEAD + "    data: {shape: [6]}\n    axis: 0\n    split_lengths: {shape: [3], values: [1, 5]}\n",
        "split_lengths: its values have the shape [2], but `shape` is [3].",
    ),
    "uneven values": (
        HEAD + "    data: {shape: [6]}\n    axis: 0\n    split_lengths: [[1], [2, 3]]\n",
        "split_lengths: its nested lists have different lengths.",
    ),
    "no shape": (
        HEAD + "    data: {fill: ramp}\n    axis: 0\n    split_lengths: [6]\n",
        "data: it needs a `shape`, or `values`.",
    ),
    "accepted, but wrong": (
        HEAD + "    data: {shape: [6]}\n    axis: 1\n    split_lengths: [6]\n",
        "expect: the case is expected to be accepted, but it violates axis.range (The axis is in the range -rank(data) .. rank(data)-1); correct it, or write `expect: {reject: axis.range}`.",
    ),
    "rejected, but right": (
        HEAD + BODY + "    expect: {reject: lengths.sum}\n",
        (
            "expect: the case is expected to be rejected for lengths.sum, but it is valid; remove `expect`, or change the case so "
            "that it violates the requirement.\n"
        ),
    ),
    "rejected for what no case violates": (
        HEAD + BODY + "    expect: {reject: lengths.remainder}\n",
        "the case is expected to be rejected for lengths.remainder, but no case can violate lengths.remainder: ",
    ),
    "rejected for another": (
        HEAD + "    data: {shape: [6]}\n    axis: 9\n    split_lengths: [6]\n    expect: {reject: lengths.sum}\n",
        (
            "the case is expected to be rejected for lengths.sum, but it violates axis.range instead; correct the case, or write "
            "`expect: {reject: axis.range}`.\n"
        ),
    ),
    "rejected for two": (
        HEAD + "    data: {shape: [6]}\n    axis: 0\n    split_lengths: [-2, 5]\n    expect: {reject: lengths.sum}\n",
        (
            "the case is expected to be rejected for lengths.sum, but it violates lengths.negative, lengths.sum; correct the case, "
            "or write `expect: {reject: lengths.sum, also: [lengths.negative]}`.\n"
        ),
    ),
    "wrong twin": (
        HEAD + "    data: {shape: [6]}\n    axis: 0\n    split_lengths: [5]\n    expect: {reject: lengths.sum}\n"
        "    twin: {split_lengths: [4]}\n",
        "spec.yaml:9:11: group 'a': twin: a twin must be valid, but this one violates lengths.sum (Without a -1, the sum of split_lengths equals the size of the split dimension).",
    ),
    "dynamic that does not fit": (
        HEAD + BODY + '    dynamic: ["2..4", 2]\n',
        "dynamic: ['2..4', 2] does not fit data of shape [6, 2].",
    ),
    "a second feed of a constant": (
        HEAD + BODY + "    feed: {axis: 1}\n",
        "feed: axis is a constant of the IR, so a second feed cannot change it.",
    ),
    "a second feed of another shape": (
        HEAD + BODY + "    feed: {data: {shape: [6, 3]}}\n",
        "feed: data of shape [6, 3] does not fit the IR's [6, 2]; see `dynamic`.",
    ),
    "a second feed of another number of values": (
        HEAD + BODY + "    binding: {split_lengths: parameter}\n    feed: {split_lengths: [1, 2, 3]}\n",
        "feed: split_lengths of shape [3] does not fit the IR's [2]; see `dynamic`.",
    ),
    "a second feed with another number of outputs": (
        HEAD
        + BODY
        + "    binding: {split_lengths: parameter}\n    dynamic: {split_lengths: all}\n    feed: {split_lengths: [1, 2, 3]}\n",
        "feed: the second feed gives 3 outputs, but the IR declares 2.",
    ),
    "a number in quotes": (
        "op: Split-1\ngroups:\n  - {id: a, title: t, data: {shape: [6]}, axis: 0, num_splits: '3'}\n",
        "num_splits: in an IR the text '3' is the number 3; write 3.",
    ),
    "a boolean in quotes": (
        "op: Reshape-1\ngroups:\n  - {id: a, title: t, data: {shape: [6]}, shape: [6], special_zero: 'true'}\n",
        "special_zero: in an IR the text 'true' is the boolean; write true without quotes.",
    ),
    "a scalar that is doubled": (
        "op: Reshape-1\ngroups:\n  - {id: a, title: t, data: {shape: [1]}, shape: [], special_zero: true, context: doubled}\n",
        "context: an output of rank 0 has no axis along which the context `doubled` could join it.",
    ),
    "an output of too many dimensions": (
        "op: Reshape-1\ngroups:\n  - {id: a, title: t, data: {shape: [1]}, shape: '${{ [1] * 70 }}', special_zero: true}\n",
        "expect: an output of 70 dimensions is over the limit of 64.",
    ),
    "twice the same key": (
        HEAD + "    title: again\n" + BODY,
        "spec.yaml:5:5: The key 'title' is repeated.",
    ),
    "twice the same group": (
        HEAD + BODY + "  - id: a\n    title: t\n" + BODY,
        "spec.yaml:8:9: group 'a': the id is already used by the group at spec.yaml:3:5.",
    ),
    "a Python object": (
        HEAD + "    profile: !!python/object/apply:os.system [id]\n" + BODY,
        "spec.yaml:5:14: ",
    ),
    "no YAML": ("op: [Split-1\ngroups: x: y\n", "This is not YAML:"),
    "no mapping": ("- 1\n", "spec.yaml:1:1: A spec is a mapping with the keys 'op' and 'groups'."),
    "empty": ("", "spec.yaml:1:1: A spec is a mapping with the keys 'op' and 'groups'."),
    "a control character": (
        HEAD + "    profile: \x01\n",
        "spec.yaml:5:14: This is not YAML: a character U+0001 is not allowed.",
    ),
    "a colon in a text": (
        "op: Split-1\ngroups:\n  - id: a\n    title: random: shapes\n",
        "spec.yaml:4:18: This is not YAML: mapping values are not allowed in this context; quote a text that contains a colon, write a space after the colon of a key, and indent the keys alike.",
    ),
    "another line break": (
        "op: Split-1\r\u2028\x85groups: [\r  ${{ a",
        "spec.yaml:5:4: This is not YAML: did not find expected ',' or ']'; quote an expression inside {…}.",
    ),
    "a tab": (
        HEAD + "\tprofile: core\n" + BODY,
        "spec.yaml:5:1: This is not YAML: found a tab character that violates indentation; indent with spaces, not tabs.",
    ),
    "braces without a dollar": (
        HEAD + "    data: {shape: [6]}\n    axis: {{ l }}\n    split_lengths: [6]\n",
        "spec.yaml:6:12: A key must be a string; an expression is written ${{ … }}.",
    ),
    "an expression in a flow mapping": (
        HEAD + "    data: {shape: ${{ s }}}\n    axis: 0\n    split_lengths: [6]\n",
        "; quote an expression inside {…}.",
    ),
    "an empty list of a variable": (
        HEAD + "    matrix: {l: []}\n" + BODY,
        "spec.yaml:5:17: matrix.l: [] is not allowed: it must not be empty.",
    ),
    "an expectation without a requirement": (
        HEAD + BODY + "    expect: reject\n",
        "spec.yaml:8:13: expect: 'reject' is not allowed: it must be 'accept' or 'semantics' or {reject: REQUIREMENT}.",
    ),
    "a variable without a matrix": (
        HEAD + "    data: {shape: [6]}\n    axis: ${{ axs }}\n    split_lengths: [6]\n",
        "spec.yaml:6:11: group 'a': `axs` is undefined; defined variables: none.",
    ),
    "nested too deep": (
        "op: " + "[" * 5000 + "]" * 5000,
        "spec.yaml:1:68: Values are nested deeper than 64 levels here.",
    ),
    "nothing left": (
        HEAD + "    matrix: {n: [1]}\n    where: n > 1\n" + BODY,
        "group 'a': `where` and `exclude` remove every combination, so the group has no cases.",
    ),
    "where that is not true or false": (
        HEAD + "    matrix: {n: [1]}\n    where: n\n" + BODY,
        "group 'a': `n` returns 1, which is neither true nor false.",
    ),
}


def computed() -> float:
    """The seconds that ended child processes have computed for, however busy the machine was."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_with_its_place(opconform: Run, tmp_path: Path, name: str) -> None:
    """A wrong spec ends with 2 and a sentence that says what is wrong and where, and computes nothing large."""
    text, sentence = MISTAKES[name]
    (tmp_path / "spec.yaml").write_text(text)
    before = computed()
    done = opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert sentence in done.stderr
    assert done.stderr.startswith("error: spec.yaml:")
    assert computed() - before < 5
    assert not (tmp_path / "suite").exists()


def test_every_mistake_of_every_file_is_reported_at_once(opconform: Run, tmp_path: Path) -> None:
    """Two files with two mistakes each give four lines, sorted by place."""
    (tmp_path / "a.yaml").write_text(HEAD + "    profil: core\n    fil: x\n" + BODY)
    (tmp_path / "b.yaml").write_text(HEAD + "    requirements: [no.such]\n    contxt: bare\n" + BODY)
    done = opconform("generate", "a.yaml", "b.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert [line.removeprefix("error: ").partition(": ")[0] for line in done.stderr.splitlines()] == [
        "a.yaml:5:5",
        "a.yaml:6:5",
        "b.yaml:5:20",
        "b.yaml:6:5",
    ]


def test_an_alias_bomb_is_refused_before_it_goes_off(opconform: Run, tmp_path: Path) -> None:
    """A few lines of aliases that stand for a billion values are reported, and take no memory."""
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (tmp_path / "bomb.yaml").write_text("\n".join(lines))
    before = computed()
    done = opconform("generate", "bomb.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert "The file contains more than 20,000 values with its aliases expanded." in done.stderr
    assert computed() - before < 5


def test_a_file_that_is_not_utf8_is_reported_with_the_byte(opconform: Run, tmp_path: Path) -> None:
    """Latin-1 text is refused at the byte that is not UTF-8."""
    (tmp_path / "latin.yaml").write_bytes(b"op: Split-1\n# caf\xe9\n")
    done = opconform("generate", "latin.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr == "error: latin.yaml:2:6: The byte 0xe9 is not UTF-8; save the file as UTF-8.\n"


def test_a_missing_file_is_reported(opconform: Run, tmp_path: Path) -> None:
    """A path that leads nowhere is a sentence and no traceback."""
    done = opconform("generate", "nowhere.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert (
        done.stderr
        == "error: Spec not found: nowhere.yaml. Name a YAML file, a folder of them, or an operation such as Split-1.\n"
    )


def test_a_spec_that_is_a_fifo_is_refused(opconform: Run, tmp_path: Path) -> None:
    """It is not read, since that would wait for a writer forever."""
    os.mkfifo(tmp_path / "spec.yaml")
    done = opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr == "error: spec.yaml:1:1: The file cannot be read: it is not a regular file.\n"


def test_yaml_1_2_is_read(opconform: Run, tmp_path: Path) -> None:
    """`no` is a text and `010` is ten, as in YAML 1.2."""
    (tmp_path / "spec.yaml").write_text(
        "op: Split-1\ngroups:\n  - id: a\n    title: no\n    data: {shape: [010, 2]}\n    axis: 0\n    num_splits: 5\n"
    )
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    listed = opconform("list", "suite", "--cases", cwd=tmp_path).stdout

    assert listed == "Split-1/a/08a05ce094  accepted: data f32[10, 2], axis 0, num_splits 5\n"


def test_the_mistakes_of_all_groups_are_reported_at_once(opconform: Run, tmp_path: Path) -> None:
    """Mistakes that show only when a group is expanded do not hide those of the next group, and nothing is left."""
    wrong = "  - {{id: {}, title: t, data: {{shape: [6]}}, axis: {}, num_splits: 2}}\n"
    (tmp_path / "a.yaml").write_text(f"op: Split-1\ngroups:\n{wrong.format('a', 1)}{wrong.format('b', 2)}")
    done = opconform("generate", "a.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert [line.partition(": expect:")[0] for line in done.stderr.removeprefix("error: ").splitlines()] == [
        "a.yaml:3:5: group 'a'",
        "a.yaml:4:5: group 'b'",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_mistakes_of_both_kinds_are_reported_at_once(opconform: Run, tmp_path: Path) -> None:
    """A misspelt key in one group does not hide a wrong value in another."""
    right = "    data: {shape: [6]}\n    axis: 0\n"
    (tmp_path / "a.yaml").write_text(
        f"op: Split-1\ngroups:\n  - id: My Group\n    title: t\n{right}    num_splits: ${{{{ 1\n"
        f"  - id: b\n    title: t\n{right}    num_splits: 4\n"
    )
    done = opconform("generate", "a.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr.splitlines() == [
        (
            "error: a.yaml:3:9: id: 'My Group' is not allowed: it must be lower-case words joined by hyphens, as in "
            "zero-length."
        ),
        "a.yaml:7:17: '${{ 1' is not closed; an expression is written between ${{ and }}.",
        (
            "a.yaml:8:5: group 'b': expect: the case is expected to be accepted, but it violates num_splits.divides "
            "(num_splits divides the size of the split dimension, since all outputs have the same length); "
            "correct it, or write `expect: {reject: num_splits.divides}`."
        ),
    ]
