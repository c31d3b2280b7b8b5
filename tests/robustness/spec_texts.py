"""Specs of one group, which the hostile ones are made of."""

HEAD = "op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n"
RIGHT = "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5]\n"
LONG = "x" * 100_000
HUGE = "9" * 5_000


def spec(lines: str, rest: str = RIGHT) -> str:
    """A spec with one group: some lines of its own, and the keys of a right case."""
    return HEAD + "".join(f"    {line}\n" for line in lines.splitlines()) + rest


def keys(**keys: str) -> str:
    """A spec with one group whose inputs are as given; `none` leaves one out."""
    inputs = {"data": "{shape: [6, 2]}", "axis": "0", "split_lengths": "[1, 5]"} | keys
    return HEAD + "".join(f"    {name}: {input_}\n" for name, input_ in inputs.items() if input_ != "none")


def split(num_splits: str, expect: str = "accept") -> str:
    """A spec of Split-1 with one group."""
    return (
        "op: Split-1\ngroups:\n  - id: a\n    title: t\n    data: {shape: [6, 2]}\n    axis: 0\n"
        f"    num_splits: {num_splits}\n    expect: {expect}\n"
    )


def listed(text: str, times: int) -> str:
    """A spec whose matrix has a variable with many texts, each with a number put in."""
    return spec("matrix:\n  n:\n" + "".join(f"    - '{text.format(number)}'\n" for number in range(times)))


def axis(expression: str) -> str:
    """A spec whose axis is an expression over `n`."""
    return spec("matrix: {n: [1]}", f"    data: {{shape: [6, 2]}}\n    axis: ${{{{ {expression} }}}}\n")


def drawn(expression: str, count: int = 1, where: str = "") -> str:
    """A spec with a sample whose variable is an expression."""
    lines = f"random:\n  count: {count}\n  draw:\n    v: ${{{{ {expression} }}}}"
    return spec(lines + (f"\nwhere: {where}" if where else ""))


def matrix(variables: int, values: int, lines: str = "") -> str:
    """A spec with a matrix of some variables that have some values each."""
    listed = "\n".join(f"  v{number}: ${{{{ range({values}) }}}}" for number in range(variables))
    return spec(f"matrix:\n{listed}\n{lines}")
