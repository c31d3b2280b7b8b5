"""The rules of the house: every shipped operation keeps them, and each one notices what is lacking."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.generation import case_files as case_files_module
from opconform.specs.every.groups import every_group_ids
from opconform.specs.group import Group, Spec
from opconform.specs.index import Index
from opconform.specs.loader import load_spec, shipped_operations
from opconform_runners.backends.numpy.backend import FUNCTIONS
from opconform_runners.tools.house import RULES, lacks_of, lists, repository, samples
from opconform_runners.tools.house.exceptions import rule_exceptions
from opconform_runners.tools.house.operation import HouseOperation, house_operation
from tests.conftest import Run
from tests.sampling import in_line

#: A spec of groups with one case each.
HEAD = "op: Pad-12\ngroups:\n"
GROUP = """\
  - id: {id}
    title: {title}
    requirements: [{requirements}]
    data: {{shape: [{size}], element_type: {element_type}, fill: {fill}}}
    pads_begin: [{begin}]
    pads_end: [1]
    pad_mode: edge
"""


@pytest.fixture(scope="module")
def house() -> HouseOperation:
    """An operation that moves data."""
    return house_operation("Pad-12")


def lines_of(rule: str, house: HouseOperation) -> list[str]:
    """What an operation lacks by a rule."""
    return [str(lack) for lack in RULES[rule](house)]


def without(house: HouseOperation, *ids: str) -> HouseOperation:
    """An operation without some of its groups."""
    specs = [replace(spec, groups=tuple(x for x in spec.groups if x.id not in ids)) for spec in house.specs]
    return replace(house, specs=[spec for spec in specs if spec.groups])


def written(
    *groups: str, size: int = 4, element_type: str = "i32", fill: str = "ramp", begin: int = 1, title: str = "t"
) -> str:
    """A spec whose groups list these requirements."""
    keys = {"size": size, "element_type": element_type, "fill": fill, "begin": begin, "title": title}
    return HEAD + "".join(GROUP.format(id=f"g{n}", requirements=x, **keys) for n, x in enumerate(groups))


def alone(house: HouseOperation, folder: Path, text: str) -> HouseOperation:
    """An operation with the spec `a.yaml` alone."""
    (folder / "a.yaml").write_text(text)
    spec = load_spec(folder / "a.yaml")
    return replace(house, specs=(replace(spec, groups=tuple(_renamed(spec))),))


def _renamed(spec: Spec) -> Iterator[Group]:
    for group in spec.groups:
        yield replace(group, document=replace(group.document, file="a.yaml"))


@pytest.mark.parametrize("op", in_line(shipped_operations(), "Abs-1", "Sqrt-1", "Tile-1", of=8))
def test_a_shipped_operation_lacks_nothing(op: str) -> None:
    """`opconform list --house` says what it lacks."""
    assert [str(lack) for lack in lacks_of(op)] == []


def test_every_exception_is_one_to_a_rule_of_an_operation() -> None:
    """Groups that have cases all the same are found by the rule."""
    rules = {*every_group_ids(), samples.HIGH_RANKS, *repository.TABLES, "interpretations", "nan-payloads"}

    assert {rule for x in rule_exceptions() for rule in x.rules} <= rules
    assert {op for x in rule_exceptions() for op in x.operations} <= {*shipped_operations()}


def test_an_operation_that_cannot_be_read_lacks_what_is_needed_for_that() -> None:
    """The files to write."""
    assert [str(lack) for lack in lacks_of("OneHot-16")] == [
        "cases/OneHot-16/requirements.yaml: write every statement of the page that a case can test",
        (
            "generator/opconform/operations/__init__.py: declare OneHot-16 in a module of movement/, shape/ or arithmetic/ "
            "beside it, and add it to SHIPPED"
        ),
        "cases/OneHot-16/samples.yaml: write named sets of valid arguments, the most common one first",
    ]


def test_a_group_of_every_operation_without_a_case_is_reported_with_its_samples(house: HouseOperation) -> None:
    """And where an exception is written."""
    assert lines_of("groups of every operation", without(house, "high-ranks")) == [
        (
            "cases/Pad-12/samples.yaml:7: the group high-ranks of cases/every (data of more than 8 dimensions, constant and at "
            "run time, and with dynamic dimensions) has no case, which takes samples where `sample.rank > 8`: add such a "
            "sample, or name Pad-12 and the reason under the rule high-ranks in cases/exceptions.yaml"
        )
    ]


def test_an_exception_that_is_not_needed_is_reported(house: HouseOperation, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would hide the rule tomorrow."""
    monkeypatch.setattr(samples, "is_excepted", lambda _, rule: rule in ("texts-folded", "then"))

    assert lines_of("groups of every operation", house) == [
        "cases/exceptions.yaml: Pad-12 has cases of the group then: remove it from the exceptions"
    ]


def test_ranks_of_samples_are_reported(house: HouseOperation, tmp_path: Path) -> None:
    """That of a small sample is not enough."""
    text = "op: Pad-12\nsamples:\n  row: {data: {shape: [3]}, pads_begin: [1], pads_end: [1], pad_mode: edge}\n"
    found = lines_of("high ranks", alone(house, tmp_path, text))

    assert [line.partition(": add")[0].rpartition(":")[2] for line in found] == [
        f" no sample has data of rank {rank}" for rank in (9, 12)
    ]
    assert lines_of("groups of every operation", replace(house, specs=())) == [
        "cases/Pad-12/samples.yaml: write samples, of which the groups of cases/every make cases"
    ]


def test_a_requirement_without_evidence_is_reported_at_its_line(house: HouseOperation) -> None:
    """Valid cases, and rejected ones where it can be violated."""
    lines = Path("cases/Pad-12/requirements.yaml").read_text().splitlines()
    names = ["data.required", "outputs.shape"]
    numbers = [1 + next(number for number, line in enumerate(lines) if line.startswith(f"  {name}:")) for name in names]
    found = lines_of("evidence", without(house, *(group.id for group in house.groups if group.samples is None)))

    assert (
        f"cases/Pad-12/requirements.yaml:{numbers[0]}: no case of the profile core violates data.required: write a group "
        "with `expect: {reject: data.required}` and a `twin`"
    ) in found
    nothing = f"cases/Pad-12/requirements.yaml:{numbers[1]}: no valid case of the profile core lists outputs.shape"
    assert nothing not in "\n".join(found)
    assert nothing in "\n".join(lines_of("evidence", replace(house, specs=())))


def test_a_warning_of_generate_is_reported(house: HouseOperation, tmp_path: Path) -> None:
    """A requirement that is never listed first, and a case that lists none."""
    found = lines_of("attribution", alone(house, tmp_path, written("pads_begin.count, pads_end.count", "")))

    assert found[0].startswith(
        "a.yaml:3: group 'g0': no failure can be attributed to pads_end.count, because every group"
    )
    assert [line.partition(": ")[2] for line in found[1:]] == [
        "group 'g1': a case lists no requirement. Name what it tests in `requirements`."
    ]


def test_groups_with_the_same_title_or_case_are_reported(house: HouseOperation, tmp_path: Path) -> None:
    """The later one of the two."""
    found = lines_of("own reasons", alone(house, tmp_path, written("outputs.shape", "outputs.shape")))

    assert found == [
        "a.yaml:10: group 'g1': the group g0 has the same title. Say what only this one tests.",
        "a.yaml:10: group 'g1': the group g0 has a case of it, too. Remove one of the two.",
    ]


def test_an_interpretation_that_has_no_other_reading_or_decides_more_is_reported(
    house: HouseOperation, tmp_path: Path
) -> None:
    """A rejection by the other reading would be excused as one by what the case lists beside it."""
    found = lines_of("interpretations", replace(house, operation=replace(house.operation, readings={})))
    spec = written("pads.beyond, data.bits", begin=-9)

    assert [line.partition(": ")[2] for line in found] == [
        f"{name} has no other reading: declare one in `readings` of the operation, or a violation"
        for name in sorted(house.operation.readings)
    ]
    assert lines_of("interpretations", alone(house, tmp_path, spec)) == [
        "a.yaml:3: group 'g0': it lists data.bits beside the interpretation pads.beyond. Test each in its own group."
    ]


def test_random_bits_of_floats_that_do_not_list_their_nans_are_reported(house: HouseOperation, tmp_path: Path) -> None:
    """Integers have none."""
    floats = alone(house, tmp_path, written("data.bits", element_type="f16", fill="bits"))

    assert lines_of("NaN payloads", floats) == [
        "a.yaml:3: group 'g0': its cases have NaNs, and do not list what is said of their payloads. List data.nan-payload."
    ]
    assert lines_of("NaN payloads", alone(house, tmp_path, written("data.bits", fill="bits"))) == []


def test_rounded_results_without_a_requirement_on_rounding_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """`generate` refuses them case by case."""
    house = house_operation("Exp-1")
    known = replace(house.requirements, establishes={})
    monkeypatch.setattr(HouseOperation, "requirements", property(lambda _: known))
    monkeypatch.setattr(case_files_module, "requirements_of", lambda _: known)
    [found] = lines_of("rounding", house)

    assert re.fullmatch(r"cases/.*\.yaml:\d+: group '.*': its results have bounds, but `establishes` .*", found)


def test_missing_and_misplaced_exhaustive_cases_are_reported(house: HouseOperation) -> None:
    """The profile is known by the name of the file."""
    file = "cases/Pad-12/exhaustive.yaml"
    renamed = [replace(spec, file="cases/Pad-12/all.yaml") if spec.file == file else spec for spec in house.specs]
    missing, *misplaced = lines_of("exhaustive", replace(house, specs=renamed))

    assert missing == f"{file}: write groups of the profile exhaustive, which test all small arguments"
    assert misplaced
    assert all(line.endswith(f"only {file} has the profile exhaustive, and has no other profile") for line in misplaced)


def test_a_missing_function_of_numpy_is_reported(house: HouseOperation, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the second implementation of every operation."""
    monkeypatch.setattr(repository, "FUNCTIONS", {name: x for name, x in FUNCTIONS.items() if name != "Pad-12"})

    assert lines_of("second implementation", house) == [
        (
            "runners/opconform_runners/backends/numpy/backend.py: the numpy backend does not execute Pad-12: add a function to "
            "FUNCTIONS, written from the page alone, which checks what the declaration does not"
        )
    ]


def test_what_tests_lack_is_reported_in_a_checkout(house: HouseOperation, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not outside one."""
    operation = replace(house.operation, name="Moon-1", facts={"the moon is full": lambda _: True})
    rules = ("neighbours", "facts")
    known = house.requirements
    monkeypatch.setattr(HouseOperation, "requirements", property(lambda _: known))
    moon = replace(house, operation=operation)

    assert [line for rule in rules for line in lines_of(rule, moon)] == [
        (
            "tests/dialects/neighbours.py: Moon-1 is never behind i32 of rank 3: add its other arguments to NEIGHBOURS, or "
            "name it and the reason under the rule NEIGHBOURS in cases/exceptions.yaml"
        ),
        (
            "tests/dialects/neighbours.py: Moon-1 is never behind f32 of rank 4: add its other arguments to CONVOLVED, or "
            "name it and the reason under the rule CONVOLVED in cases/exceptions.yaml"
        ),
        "tests/findings/test_facts.py: add to CASES a case in which 'the moon is full' holds, and one in which it does not",
    ]
    monkeypatch.setattr(repository, "checkout", lambda: None)
    assert [line for rule in rules for line in lines_of(rule, moon)] == []


def test_a_list_of_quick_that_lacks_cases_is_reported(house: HouseOperation, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that names a case that is gone."""
    todo = "run `python -m tests.quick FOLDER`, then `python -m maintenance.index`"
    monkeypatch.setattr(lists, "quick_cases", lambda: {"Pad-12/a": ("Pad-12/a/0123456789",)})
    gone, lacking = lines_of("quick", house)

    assert gone == f"cases/quick.json: core has no case Pad-12/a/0123456789: {todo}"
    assert re.fullmatch(
        r"cases/quick\.json: the profile quick has no case of data\.bits \(valid\), data\.element-type \(valid\), "
        rf"data\.rank \(valid\) and \d+ more: {re.escape(todo)}",
        lacking,
    )


def test_an_index_and_a_table_of_releases_that_are_out_of_date_are_reported(
    house: HouseOperation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that writes each."""
    known = Index(groups={}, changed=("Pad-12/own.yaml",), outdated=frozenset({"Pad-12/then"}))
    monkeypatch.setattr(lists, "index_of", lambda _: known)

    assert lines_of("index", house) == [
        "cases/index.json: it is out of date for Pad-12/own.yaml, Pad-12/then: run `python -m maintenance.index`"
    ]
    assert lines_of("releases", replace(house, specs=house.specs[1:])) == [
        "cases/releases.json: the row of the version 2.0.0 has other cases of Pad-12: run `python -m maintenance.releases`"
    ]


def test_the_command_says_what_lacks_or_that_nothing_does(opconform: Run) -> None:
    """The exit code tells the two apart."""
    whole, lacking = (
        opconform("list", "--house", "Tanh-1"),
        opconform("list", "--house", "OneHot-16", "--json", code=1),
    )

    advice = "`opconform adequacy Tanh-1 --strict` measures the cases."
    assert (whole.stdout, whole.stderr) == (f"Tanh-1: nothing is lacking, by {len(RULES)} rules. {advice}\n", "")
    assert json.loads(lacking.stdout)[0] == {
        "file": "cases/OneHot-16/requirements.yaml",
        "line": None,
        "what": "write every statement of the page that a case can test",
    }


def test_outside_a_checkout_the_command_says_what_it_did_not_look_at(
    opconform: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests and pages are not installed."""
    monkeypatch.setattr(repository, "checkout", lambda: None)

    assert opconform("list", "--house", "Tanh-1").stderr == (
        "note: This is not a checkout, so its tests and pages were not looked at.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Name an operation, as in `opconform list --house Split-1`."),
        (("Split-1", "--cases"), "--house lists no cases. Leave out the other options."),
        (
            ("specs",),
            (
                "'specs' is not the name of an operation that opconform ships, and the rules of the house are about these "
                "alone. `opconform adequacy` measures the cases of any other."
            ),
        ),
    ],
)
def test_what_the_rules_are_not_about_is_refused(opconform: Run, words: tuple[str, ...], sentence: str) -> None:
    """A folder of specs, and options that list cases."""
    assert opconform("list", "--house", *words, code=2).stderr == f"error: {sentence}\n"
