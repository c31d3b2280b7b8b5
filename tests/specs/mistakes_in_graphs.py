"""Mistakes of specs that declare a graph in place of an operation."""

HEAD = "op: Graph-1\ngroups:\n  - id: a\n    title: t\n    requirements: [values.chain]\n"
X = "    inputs: {x: {shape: [2, 3]}}\n"
ABS = "      abs: {op: Abs-1, data: x}\n"
END = "    outputs: [abs]\n"


def nodes(*lines: str, outputs: str = "[abs]", inputs: str = X) -> str:
    """A spec with such nodes."""
    text = "".join(f"      {line}\n" for line in lines)
    return f"{HEAD}{inputs}    nodes:\n{text}    outputs: {outputs}\n"


#: The spec, and what is said of it, by the mistake.
IN_GRAPHS = {
    "cycle": (
        nodes("first: {op: Abs-1, data: abs}", "abs: {op: Abs-1, data: first}"),
        "spec.yaml:8:32: group 'a': nodes: 'abs' is neither an input nor an earlier node. The node abs comes later, ",
    ),
    "unknown input": (
        nodes("abs: {op: Abs-1, data: y}"),
        "spec.yaml:8:30: group 'a': nodes: 'y' is neither an input nor an earlier node. It is one of: x.\n",
    ),
    "unknown fill": (
        nodes("abs: {op: Add-1, a: x, b: {shape: [3], fill: random}}"),
        "spec.yaml:8:52: group 'a': nodes: abs: b.fill: 'random' is not allowed: it must be 'ramp', 'small', 'exact', ",
    ),
    "unused node": (
        nodes("abs: {op: Abs-1, data: x}", "other: {op: Abs-1, data: x}"),
        "spec.yaml:9:7: group 'a': nodes: no output needs the node other; remove it, or make it an output.\n",
    ),
    "unused input": (
        nodes("abs: {op: Abs-1, data: x}", inputs="    inputs: {x: {shape: [2]}, y: {shape: [2]}}\n"),
        "spec.yaml:6:31: group 'a': inputs: no node takes y; remove it.\n",
    ),
    "output that is no node": (
        nodes("abs: {op: Abs-1, data: x}", outputs="[abs, sum]"),
        "spec.yaml:9:20: group 'a': outputs: 'sum' is neither an input nor an earlier node. It is one of: x, abs.\n",
    ),
    "output of a node that it does not have": (
        nodes("abs: {op: Abs-1, data: x}", outputs="[abs.1]"),
        "spec.yaml:9:15: group 'a': outputs: abs has no output 1: it has 1 output, counted from 0.\n",
    ),
    "result that a node does not have": (
        nodes("parts: {op: Split-1, data: x, axis: 1, num_splits: 3}", "abs: {op: Abs-1, data: parts.3}"),
        "spec.yaml:9:12: group 'a': nodes: parts has no output 3: it has 3 outputs, counted from 0.\n",
    ),
    "unknown operation": (
        nodes("abs: {op: Ab-1, data: x}"),
        "spec.yaml:8:17: group 'a': nodes: abs: 'Ab-1' is not a known operation. Did you mean 'Abs-1'?.\n",
    ),
    "constant as a node": (
        nodes("one: {op: Constant-1, element_type: f32, shape: [], value: [1]}", "abs: {op: Add-1, a: x, b: one}"),
        "spec.yaml:8:17: group 'a': nodes: one: Constant-1 has no inputs; write its tensor where a node takes it.\n",
    ),
    "unknown key of a node": (
        nodes("abs: {op: Abs-1, datum: x}"),
        "spec.yaml:8:31: group 'a': nodes: abs: unknown key 'datum'; allowed: op, data.\n",
    ),
    "type that does not fit": (
        nodes("abs: {op: Add-1, a: x, b: {shape: [3], element_type: i32}}"),
        "spec.yaml:8:12: group 'a': nodes: abs violates Add-1:b.same-type (Both inputs have the same element type); ",
    ),
    "two nodes of one name": (
        nodes("abs: {op: Abs-1, data: x}", "abs: {op: Abs-1, data: x}"),
        "spec.yaml:9:7: The key 'abs' is repeated.\n",
    ),
    "node with the name of an input": (
        nodes("x: {op: Abs-1, data: x}", outputs="[x]"),
        "spec.yaml:8:7: group 'a': nodes: an input has the name of x or of its results; rename one.\n",
    ),
    "no nodes": (HEAD + X + "    nodes: {}\n    outputs: [x]\n", "spec.yaml:7:12: nodes: a mapping is not allowed: "),
    "too many nodes": (
        nodes(*(f"n{n}: {{op: Abs-1, data: x}}" for n in range(10_000)), outputs="[n0]"),
        "The file contains more than 20,000 values; split it.\n",
    ),
    "more nodes than a graph has": (
        nodes(*(f"n{n}: {{op: Abs-1, data: x}}" for n in range(201)), outputs="[n0]"),
        "spec.yaml:8:7: nodes: a mapping is not allowed: ",
    ),
    "rounded result that is computed with": (
        nodes("exp: {op: Exp-1, data: x}", "mod: {op: FloorMod-1, a: exp, b: x}", outputs="[mod]"),
        "spec.yaml:3:5: group 'a': FloorMod-1 computes with rounded elements, whose errors are not followed further.\n",
    ),
    "rounded result that decides an integer": (
        nodes(
            "mean: {op: ReduceMean-1, data: x, axes: [0, 1]}",
            "equal: {op: Equal-1, a: mean, b: mean}",
            outputs="[equal]",
        ),
        "spec.yaml:3:5: group 'a': Equal-1: the errors of rounded elements decide a result.\n",
    ),
    "rounded result that may be 0 and divides": (
        nodes(
            "mean: {op: ReduceMean-1, data: x, axes: [0, 1]}",
            "zero: {op: Subtract-1, a: mean, b: mean}",
            "ratio: {op: Divide-1, a: x, b: zero}",
            outputs="[ratio]",
        ),
        "spec.yaml:3:5: group 'a': Divide-1: a rounded number may be divided by 0.\n",
    ),
    "bounds that prove nothing": (
        nodes(
            "mean: {op: ReduceMean-1, data: x, axes: [0, 1]}",
            "zero: {op: Subtract-1, a: mean, b: mean}",
            outputs="[zero]",
        ),
        "spec.yaml:3:5: group 'a': the bounds of its results are as wide as the results, so that it proves nothing. ",
    ),
    "result twice": (
        nodes("abs: {op: Abs-1, data: x}", outputs="[abs, abs.0]"),
        "spec.yaml:9:14: group 'a': outputs: a result is an output twice; leave one out.\n",
    ),
    "graph that is expected to be invalid": (
        nodes("abs: {op: Abs-1, data: x}").replace("values.chain", "nodes.valid")
        + "    expect: {reject: nodes.valid}\n    twin: {}\n",
        "the case is expected to be rejected for nodes.valid, but it is valid; ",
    ),
}
