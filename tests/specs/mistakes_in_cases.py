"""Mistakes that are found when a group is expanded to its cases."""

from tests.specs.spec_texts import BODY, HEAD, axis, data

#: The spec, and a part of what is said of it, by the mistake.
IN_CASES = {
    "variable without brackets among elements": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [6]}\n    axis: 0\n    split_lengths: [-1, n]\n",
        (
            "spec.yaml:8:20: group 'a': split_lengths: 'n' is not an integer, which i64 requires; write \"${{ n }}\" for the "
            "variable (with n=6).\n"
        ),
    ),
    "drawn variable without brackets": (
        HEAD + "    random: {count: 1, draw: {n: '${{ random_integer(1, 2) }}'}}\n    data: {shape: [6]}\n"
        "    axis: 0\n    split_lengths: [n, -1]\n",
        '; write "${{ n }}" for the variable (with n=',
    ),
    "wrong key of a second feed": (
        HEAD + BODY + "    feed: {data: {element_type: f32, shape: [6, 3]}}\n",
        "spec.yaml:8:45: group 'a': feed: data of shape [6, 3] does not match the declared shape [6, 2]; see `dynamic`.\n",
    ),
    "too large second feed": (
        HEAD + BODY + "    dynamic: all\n    feed: {data: {shape: [1000000, 1000000]}}\n",
        "spec.yaml:9:26: group 'a': feed: data: a shape of 1,000,000,000,000 elements is over the limit of 16,777,216; ",
    ),
    "too much work": (
        "op: Exp-1\ngroups:\n  - id: a\n    title: t\n    data: {shape: [1000, 1000]}\n",
        "spec.yaml:5:11: group 'a': data: its exact result needs the work of 30,000,000 products, over the limit of 4,000,000; ",
    ),
    "root of a negative number": (
        "op: Sqrt-1\ngroups:\n  - id: a\n    title: t\n    requirements: [outputs.shape]\n    data: {values: [-1.0, 4.0]}\n",
        "spec.yaml:3:5: group 'a': the page of Sqrt-1 leaves the result of these elements undefined.\n",
    ),
    "sum of products beyond the range": (
        (
            "op: MatMul-1\ngroups:\n  - id: a\n    title: t\n    requirements: [outputs.shape]\n"
            "    a: {values: [1.0e+38, -1.0e+38]}\n    b: {values: [10.0, 10.0]}\n"
        ),
        "spec.yaml:3:5: group 'a': the order in which the products are added decides whether a sum is finite.\n",
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
    "failing expression": (
        axis("${{ 1 / n }}", "{n: [0, 1]}"),
        "spec.yaml:7:11: group 'a': `1 / n` fails: division by zero, with n=0.",
    ),
    "mistyped function": (
        axis("${{ divisor(n)[0] }}", "{n: [6]}"),
        "spec.yaml:7:11: group 'a': `divisor(n)[0]` fails: 'divisor' is undefined (did you mean 'divisors'?), with n=6.",
    ),
    "unknown function": (
        axis("${{ size(n) }}", "{n: [6]}"),
        "`size(n)` fails: 'size' is undefined (functions: abs, divisors, insert, len, ",
    ),
    "function with too few arguments": (
        HEAD + "    random: {count: 1, draw: {n: '${{ random_integer(3) }}'}}\n" + BODY,
        "`random_integer(3)` fails: random_integer() missing 1 required positional argument: 'high'",
    ),
    "method": (
        axis("${{ n.bit_length() }}", "{n: [6]}"),
        "`n.bit_length()` fails: a value has no attributes and methods, with n=6.",
    ),
    "constant fill without a value": (
        data("{shape: [6], fill: constant}"),
        "data: `fill: constant` needs a `value`.\n",
    ),
    "variable as in GitHub Actions": (
        axis("${{ matrix.ax }}", "{ax: [0]}"),
        "`matrix.ax` fails: 'matrix' is undefined (write a variable without `matrix.`), with ax=0.",
    ),
    "unknown variable": (
        axis("${{ m }}", "{n: [0]}"),
        "spec.yaml:7:11: group 'a': `m` is undefined; defined variables: n=0.",
    ),
    "attribute access": (axis("${{ ''.__class__.__mro__ }}"), "spec.yaml:6:11: group 'a': `''.__class__.__mro__`"),
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
        axis("{element_type: i8, values: 300}"),
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
    "no shape": (data("{fill: ramp}"), "data: it needs a `shape`, or `values`."),
    "accepted, but wrong": (
        axis("1"),
        "axis: the case is expected to be accepted, but it violates axis.range (The axis is in the range -rank(data) .. rank(data)-1); correct the case, or write `expect: {reject: axis.range}`.",
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
        "feed: data of shape [6, 3] does not match the declared shape [6, 2]; see `dynamic`.",
    ),
    "a second feed of another number of values": (
        HEAD + BODY + "    binding: {split_lengths: parameter}\n    feed: {split_lengths: [1, 2, 3]}\n",
        "feed: split_lengths of shape [3] does not match the declared shape [2]; see `dynamic`.",
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
    "a variable without a matrix": (
        axis("${{ axs }}"),
        "spec.yaml:6:11: group 'a': `axs` is undefined; defined variables: none.",
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
