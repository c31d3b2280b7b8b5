"""Texts of specs with one mistake each."""

HEAD = "op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n"
BODY = "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5]\n"


def data(text: str) -> str:
    """A spec with such data."""
    return f"{HEAD}    data: {text}\n    axis: 0\n    split_lengths: [6]\n"


def axis(text: str, matrix: str = "") -> str:
    """A spec with such an axis, and a matrix."""
    variables = f"    matrix: {matrix}\n" if matrix else ""
    return f"{HEAD}{variables}    data: {{shape: [6]}}\n    axis: {text}\n    split_lengths: [6]\n"
