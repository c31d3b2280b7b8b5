"""The adequacy of cases: the mutants of the semantics that they kill."""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from opconform.adequacy import assessment
from opconform.adequacy.modules import Program
from opconform.adequacy.mutations import Mutation, mutations_of
from opconform.adequacy.reach import declarations, reached
from opconform.adequacy.semantics import Semantics
from opconform.errors import HarnessError
from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand
from opconform.specs import operation_names
from opconform.specs.loader import load_specs
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy.backend import FUNCTIONS
from opconform_runners.cli.adequacy import command
from opconform_runners.tools.adequacy import CaseTrial, NumpyTarget

SOURCE = """\
def violations(count, size):
    if count < 1 and size:
        return ["num_splits.positive"]
    if size < 9:
        raise ValueError(f"{size + 8} is too small")
    return [each for each in (count, size) if any(each)]

def about(count):
    return count > 5

ONE = Movement(
    name="One-1",
    inputs=(Port("data", ranks=(1,), optional=True),),
    checks={"num_splits.odd": lambda a: violations(a, LIMIT)},
    facts={"many": about},
)
TWO = Computation(name="Two-1", checks={"other": lambda a: a > 7})
LIMIT = 3
"""

FAMILY = """\
def family(name, row, page):
    def calculate(a):
        if is_open(a, 11):
            raise NoGolden("the order decides the result")
        return row(a) > 4
    def other(a):
        return a - 8
    return Computation(name=name, checks={"sixth": lambda a: a == 6}, calculate=calculate, readings={"open": other})

def added(a):
    return a + 1

def is_open(a, most):
    return a > 12 or a == most

def row(of):
    return lambda a: of(a * 3)

ONE = family("One-1", row(added), Page(others={"open": lambda a: a - 2}))
TWO = family("Two-1", lambda a: a - 7, Page())
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

ONE = Movement(name="One-1", checks={"a": violations})
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


def mutants(folder: Path, source: str) -> list[Mutation]:
    """The mutants of the operation One-1 of a module."""
    (folder / "module.py").write_text(source)
    program = Program({"module": folder / "module.py"})
    return list(mutations_of(program.trees, reached(program, declarations(program, ("One-1",)))))


def trials(folder: Path, target: NumpyTarget) -> list[CaseTrial]:
    """The trials of the cases of the thin spec."""
    (folder / "thin.yaml").write_text(THIN)
    groups = [group for spec in load_specs([folder / "thin.yaml"]) for group in spec.groups]
    return target.trials([case for group in groups for case in expand(group, limits=LIMITS)])


def changed(target: NumpyTarget, module: str, before: str, after: str) -> ast.Module:
    """The syntax tree of a module of the backend with a change of its source."""
    source = target.program.files[module].read_text()
    assert before in source
    return ast.parse(source.replace(before, after))


def test_every_kind_of_expression_is_mutated(tmp_path: Path) -> None:
    """Comparisons, boolean operators, conditions, constants, calls and returns, one at a time."""
    found = {(mutant.before, mutant.after) for mutant in mutants(tmp_path, SOURCE)}

    assert found >= {
        ("count < 1", "count <= 1"),
        ("count < 1", "count >= 1"),
        ("count < 1 and size", "count < 1 or size"),
        ("count < 1 and size", "True and size"),
        ("count < 1 and size", "count < 1 and True"),
        ("if count < 1 and size", "if not (count < 1 and size)"),
        ("if count < 1 and size", "if True"),
        ("count < 1", "count < 2"),
        ("count < 1", "count < 0"),
        ("any(each)", "all(each)"),
        ("return ['num_splits.positive']", "return []"),
        ("for each in (count, size) if any(each)", "for each in (count, size) if False"),
    }
    assert all(ast.unparse(mutant.tree) != ast.unparse(ast.parse(SOURCE)) for mutant in mutants(tmp_path, SOURCE))


def test_a_declaration_is_mutated_where_it_decides_results(tmp_path: Path) -> None:
    """Its constraints and checks, and what they use; not its facts, and not another operation."""
    found = {(mutant.before, mutant.after) for mutant in mutants(tmp_path, SOURCE)}

    assert found >= {
        ("Port('data', ranks=(1,), optional=True)", "Port('data', optional=True)"),
        ("Port('data', ranks=(1,), optional=True)", "Port('data', ranks=(1,))"),
        ("violations(a, LIMIT)", "False"),
        ("violations(a, LIMIT)", "True"),
        ("LIMIT = 3", "LIMIT = 4"),
    }
    assert not {mutant.before for mutant in mutants(tmp_path, SOURCE)} & {"count > 5", "a > 7"}


def test_an_operation_of_a_family_is_mutated_where_its_row_and_the_family_decide(tmp_path: Path) -> None:
    """Not where the family or the row says what is open, and not in the row of another operation."""
    found = {(mutant.before, mutant.after) for mutant in mutants(tmp_path, FAMILY)}

    assert found >= {("a + 1", "a - 1"), ("a * 3", "a // 3"), ("row(a) > 4", "row(a) >= 4"), ("a == 6", "a != 6")}
    assert not {before for before, _ in found} & {"a - 2", "a - 7", "a - 8"}


def test_what_leaves_a_case_without_a_golden_is_not_mutated(tmp_path: Path) -> None:
    """No case can show it, as a spec with such a case is refused."""
    found = {mutant.before for mutant in mutants(tmp_path, FAMILY)}

    assert "row(a) > 4" in found
    assert not [before for before in found if "11" in before or "12" in before or "is_open" in before]


def test_cases_that_give_the_node_the_same_are_tried_once(tmp_path: Path) -> None:
    """Another binding or other neighbours change no result of the node."""
    (tmp_path / "same.yaml").write_text(
        f"{THIN}    matrix: {{given: [constant, parameter]}}\n    binding: ${{{{ given }}}}\n"
    )
    done = CliRunner().invoke(command, [str(tmp_path / "same.yaml")])

    assert "Split-1: 1 inference\n" in done.stdout


def test_what_an_exception_says_is_not_mutated(tmp_path: Path) -> None:
    """It decides no result."""
    assert [mutant.after for mutant in mutants(tmp_path, SOURCE) if "8" in mutant.before] == []


def test_every_construct_of_the_language_is_mutated_into_a_module_that_compiles(tmp_path: Path) -> None:
    """Assignment expressions, guards, lambdas, generators, nested functions and formatted strings among them."""
    found = mutants(tmp_path, CONSTRUCTS)

    assert {hit.before for hit in found} >= {
        "(size := len(data)) > 1 and size != 3",
        "case [first, *_] if first < size",
        "if (largest := max(data)) > 9",
        "size == 0",
    }
    for item in found:
        compile(item.tree, "module", "exec")


def test_a_mutation_names_the_requirements_beside_it(tmp_path: Path) -> None:
    """Those in the expression, or else those of its function."""
    found = {
        mutant.names for mutant in mutants(tmp_path, SOURCE) if mutant.function in ("num_splits.odd", "violations")
    }

    assert found >= {("num_splits.positive",), ("num_splits.odd",)}


def test_the_modules_of_an_operation_are_those_that_hold_its_semantics() -> None:
    """Its own after those that it imports; what all operations share is left out."""
    semantics = Semantics(("VariadicSplit-1",))

    assert [semantics.shown(file) for file in semantics.program.files] == ["movement.axis", "movement.split"]


def test_a_changed_module_changes_nothing_that_is_in_use() -> None:
    """The mutant accepts an axis that is missing; the semantics in use do not."""
    semantics = Semantics(("Split-1",))
    [module] = [file for file in semantics.program.files if semantics.shown(file) == "movement.axis"]
    source = semantics.program.files[module].read_text()
    tree = ast.parse(source.replace('AXIS = Port("axis", ', 'AXIS = Port("axis", optional=True, '))
    mutant = semantics.changed(module, tree)["Split-1"]
    arguments = Arguments(inputs={"data": Operand(element_type="f32", shape=(6,))}, attributes={"num_splits": 2})
    refused = [x.judged(arguments)[1] for x in (mutant, OPERATIONS["Split-1"])]

    assert refused == [(), ("axis.required",)]


def test_a_declaration_that_changes_a_local_one_has_its_parts() -> None:
    """Sin-1 is that of a family with another field."""
    roots = Semantics(("Sin-1",)).roots()["Sin-1"]

    assert "opconform.operations.arithmetic.elementwise" in {module for module, *_ in roots}


@pytest.mark.ci_only
def test_every_function_of_the_numpy_backend_has_mutants() -> None:
    """However the functions are divided into modules; the backends' contract has none."""
    target = NumpyTarget()
    found = list(mutations_of(target.program.trees, reached(target.program, target.roots())))

    assert {op for hit in found for op in hit.ops} == {*FUNCTIONS}
    assert Rejected.__module__ not in target.program.files


def test_a_mutant_of_the_numpy_backend_has_another_verdict(tmp_path: Path) -> None:
    """A wrong output, a rejection, and an error, each in the first case; without a change there is none."""
    target, module = NumpyTarget(), FUNCTIONS["Split-1"].__module__
    [trial] = trials(tmp_path, target)
    killers = [
        [*target.killers(module, changed(target, module, *change), [trial])]
        for change in (
            ("np.split(data.array, ends, axis=axis)", "np.split(data.array, ends, axis=axis)[::-1]"),
            ("refuse_if(count <= 0,", "refuse_if(count > 0,"),
            ("np.split(data.array, ends, axis=axis)", "np.split(data.array, ends, axes=axis)"),
            ("np.split(data.array, ends, axis=axis)", "np.split(data.array, ends, axis)"),
        )
    ]

    assert killers == [[0], [0], [0], []]


def test_a_backend_that_fails_a_case_is_not_mutated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving the case out would hide that it no longer kills anything."""

    def fail(*_: object) -> list[Tensor]:
        raise IndexError

    monkeypatch.setattr("opconform_runners.tools.adequacy.FUNCTIONS", {**FUNCTIONS, "Split-1": fail})

    with pytest.raises(HarnessError, match=r"The unchanged numpy backend fails 1 case, such as Split-1/one/\w{10}"):
        trials(tmp_path, NumpyTarget())


def test_a_mutant_that_takes_too_much_memory_is_detected(tmp_path: Path) -> None:
    """Before it takes it."""
    target, module = NumpyTarget(), FUNCTIONS["Split-1"].__module__
    greedy = changed(target, module, "np.split(data.array,", "np.split(data.array * np.ones(1 << 32)[:1],")

    assert [*target.killers(module, greedy, trials(tmp_path, target))] == [0]


def test_trusted_reviews_save_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is that of trying the reviewed mutants, which survive; a review of no mutant is stale."""
    (tmp_path / "thin.yaml").write_text(THIN)
    tried: list[Mutation] = []
    surviving = vars(assessment)["_surviving"]

    def counted(target: NumpyTarget, mutants: Sequence[Mutation], given: Sequence[CaseTrial]) -> Iterator[Mutation]:
        tried.extend(mutants)
        return surviving(target, mutants, given)  # type: ignore[no-any-return]

    stale = assessment.Equivalent(module="movement.split", function="_count", changes=(("1", "nothing"),), reason="x")
    known = (*vars(assessment)["_equivalents"](), stale)
    monkeypatch.setattr(assessment, "_equivalents", lambda: known)
    monkeypatch.setattr(assessment, "_surviving", counted)
    documents, counts = [], []
    for words in ((), ("--trust-reviews",)):
        tried.clear()
        documents.append(
            json.loads(CliRunner().invoke(command, [str(tmp_path / "thin.yaml"), "--json", *words]).stdout)
        )
        counts.append(len(tried))
    reviewed = [x for target in documents[0]["targets"].values() for x in target["survivors"] if x["reviewed"]]

    assert documents[0] == documents[1]
    assert "nothing" in {x["after"] for x in documents[1]["targets"]["semantics"]["stale"]}
    assert counts[0] - counts[1] == len(reviewed) > 0


def test_thin_cases_leave_survivors(tmp_path: Path) -> None:
    """One valid case pins down next to nothing, and the command says so."""
    (tmp_path / "thin.yaml").write_text(THIN)
    done = CliRunner().invoke(command, [str(tmp_path / "thin.yaml"), "--strict"])

    assert done.exit_code == 1
    assert "Split-1: 1 inference\n" in done.stdout
    assert "survives  movement/split.py:" in done.stdout
    assert "survives  backends/" in done.stdout
    assert "(num_splits.positive)" in done.stdout


def test_survivors_in_code_that_other_operations_share_are_counted(tmp_path: Path) -> None:
    """Their cases may detect them, so they are listed only if they are asked for, and are not left to review."""
    (tmp_path / "thin.yaml").write_text(THIN)
    plain, listed = (
        CliRunner().invoke(command, [str(tmp_path / "thin.yaml"), *words]).stdout.splitlines()
        for words in ((), ("--shared",))
    )
    shared = [line for line in listed if line.startswith("shared  ")]

    assert [line for line in plain if line.startswith("shared  ")] == [
        f"shared  {len(shared)} mutants survive in code that other operations share. Their cases decide; --shared lists them."
    ]
    assert [line for line in listed if line not in shared] == plain[:-1]
    assert any(line.startswith("shared  movement/axis.py:") for line in shared)
    assert not any(line.startswith("survives  movement/axis.py:") for line in plain)


@pytest.mark.parametrize(
    "target", [Semantics(tuple(operation_names.tested_operations())), NumpyTarget()], ids=["semantics", "numpy"]
)
def test_nothing_is_shared_with_operations_without_specs(target: Semantics | NumpyTarget) -> None:
    """So that the cases of all operations together must detect every mutant."""
    users = {op for ops in target.users().values() for op in ops}

    assert users
    assert users <= {*operation_names.tested_operations()}


def test_a_review_of_the_code_of_another_operation_is_not_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part of a declaration has no name, so that another operation of the module can have the mutant."""
    (tmp_path / "thin.yaml").write_text(THIN)
    reviews = [
        assessment.Equivalent(module=module, function=function, changes=(("1", "nothing"),), reason="x")
        for module, function in (("movement.split", ""), ("movement.axis", "is_outside"))
    ]
    monkeypatch.setattr(assessment, "_equivalents", lambda: tuple(reviews))
    done = CliRunner().invoke(command, [str(tmp_path / "thin.yaml")])

    assert "stale" not in done.stdout
