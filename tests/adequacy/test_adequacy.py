"""The adequacy of cases: the mutants of the semantics that they kill."""

import ast
from pathlib import Path

from click.testing import CliRunner

from opconform.adequacy.mutations import Mutation, mutations_of
from opconform.adequacy.trials import loaded, modules_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand
from opconform_runners.cli.adequacy import command

SOURCE = """\
def violations(count, size):
    if count < 1 and size:
        return ["num_splits.positive"]
    return [each for each in (count, size) if any(each)]

def about(count):
    return count > 5

ONE = Operation(
    name="One-1",
    inputs=(Port("data", ranks=(1,), optional=True),),
    checks={"num_splits.odd": lambda a: violations(a, LIMIT)},
    facts={"many": about},
)
TWO = Operation(name="Two-1", checks={"other": lambda a: a > 7})
LIMIT = 3
"""

CONSTRUCTS = """\
def violations(data, /, *rest, limit=2, **options):
    size = 0
    if (size := len(data)) > 1 and size != 3:
        return ["data.size"]
    while (largest := max(data)) > 9:
        data = [each for each in data if (half := each // 2) and half < largest]
    match data:
        case [first, *_] if first < size:
            return [f"{first + 1:>{size}}"]
        case {"axis": 0} | (1 | 2):
            return ["axis.range"]
    key = lambda each, by=1: each + by if size == 0 else -each
    def inner(value: int = 0) -> int:
        nonlocal size
        return value + largest
    try:
        with open(data[1:2]) as file:
            yield from (key(each) for line in file for each in line if each if not rest)
    except* (ValueError, TypeError):
        assert not options or limit < 1 < 3
    del key
    return {each: {**options, 1: inner(each)} for each in {*rest, 1}}[0] is None

ONE = Operation(name="One-1", checks={"a": violations})
"""
THIN = """\
op: Split-1
groups:
  - id: one
    title: one case
    requirements: [outputs.order]
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 2
"""


def mutants(source: str) -> list[Mutation]:
    """The mutants of the operation One-1 of a module."""
    return list(mutations_of({"module": ast.parse(source)}, ("One-1",)))


def test_every_kind_of_expression_is_mutated() -> None:
    """Comparisons, boolean operators, conditions, constants, calls and returns, one at a time."""
    found = {(each.before, each.after) for each in mutants(SOURCE)}

    assert found >= {
        ("count < 1", "count <= 1"),
        ("count < 1", "count >= 1"),
        ("count < 1 and size", "count < 1 or size"),
        ("count < 1 and size", "True and size"),
        ("count < 1 and size", "count < 1 and True"),
        ("if count < 1 and size", "if not (count < 1 and size)"),
        ("if count < 1 and size", "if True"),
        ("1", "2"),
        ("1", "0"),
        ("any(each)", "all(each)"),
        ("return ['num_splits.positive']", "return []"),
        ("for each in (count, size) if any(each)", "for each in (count, size) if False"),
    }
    assert all(ast.unparse(each.tree) != ast.unparse(ast.parse(SOURCE)) for each in mutants(SOURCE))


def test_a_declaration_is_mutated_where_it_decides_results() -> None:
    """Its constraints and checks, and what they use; not its facts, and not another operation."""
    found = {(each.before, each.after) for each in mutants(SOURCE)}

    assert found >= {
        ("Port('data', ranks=(1,), optional=True)", "Port('data', optional=True)"),
        ("Port('data', ranks=(1,), optional=True)", "Port('data', ranks=(1,))"),
        ("violations(a, LIMIT)", "False"),
        ("violations(a, LIMIT)", "True"),
        ("3", "4"),
    }
    assert not {each.before for each in mutants(SOURCE)} & {"count > 5", "a > 7"}


def test_every_construct_of_the_language_is_mutated_into_a_module_that_compiles() -> None:
    """Assignment expressions, guards, lambdas, generators, nested functions and formatted strings among them."""
    found = mutants(CONSTRUCTS)

    assert {each.before for each in found} >= {
        "(size := len(data)) > 1 and size != 3",
        "case [first, *_] if first < size",
        "if (largest := max(data)) > 9",
        "size == 0",
    }
    for each in found:
        compile(each.tree, "module", "exec")


def test_a_mutation_names_the_requirements_beside_it() -> None:
    """Those in the expression, or else those of its function."""
    found = {each.names for each in mutants(SOURCE) if each.function in ("num_splits.odd", "violations")}

    assert found >= {("num_splits.positive",), ("num_splits.odd",)}


def test_the_modules_of_an_operation_are_those_that_hold_its_semantics() -> None:
    """Its own after those that it imports; what all operations share is left out."""
    assert list(modules_of(("VariadicSplit-1",))) == ["axis", "split"]


def test_a_changed_module_changes_nothing_that_is_in_use() -> None:
    """The mutant accepts an axis that is missing; the semantics in use do not."""
    source = modules_of(("Split-1",))["axis"].read_text()
    tree = ast.parse(source.replace('AXIS = Port("axis", ', 'AXIS = Port("axis", optional=True, '))
    mutant = loaded(("Split-1",), {"axis": tree})["Split-1"]
    arguments = Arguments(inputs={"data": Operand(element_type="f32", shape=(6,))}, attributes={"num_splits": 2})
    refused = [each.judged(arguments)[1] for each in (mutant, OPERATIONS["Split-1"])]

    assert refused == [(), ("axis.required",)]


def test_thin_cases_leave_survivors(tmp_path: Path) -> None:
    """One valid case pins down next to nothing, and the command says so."""
    (tmp_path / "thin.yaml").write_text(THIN)
    done = CliRunner().invoke(command, [str(tmp_path / "thin.yaml"), "--strict"])

    assert done.exit_code == 1
    assert "Split-1: 1 inference\n" in done.stdout
    assert "survives  split.py:" in done.stdout
    assert "(num_splits.positive)" in done.stdout
