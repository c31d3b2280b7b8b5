"""The profile `quick`: a list of cases of the core that commands know as a profile."""

from pathlib import Path

import pytest

from opconform.generation.expansion import expand
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs, shipped_operations
from opconform.suite.case import GRAPH
from opconform.suite.reader import open_suite
from opconform.suite.selection.quick import QUICK, quick_cases
from opconform.suite.selection.selection import Selection
from tests.conftest import Run
from tests.quick.cover import MOST
from tests.result_files import report_in

OWN = """\
op: Split-1
groups:
  - id: halves
    title: two halves
    profile: quick
    requirements: [outputs.order]
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 2
"""


@pytest.fixture(scope="module")
def quick_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The listed cases of one operation."""
    options = Options(dialects=(), selection=Selection(profiles=(QUICK,)))
    return generate(load_specs([Path("Split-1")]), tmp_path_factory.mktemp("quick") / "suite", options).out


def test_the_list_is_short_and_of_shipped_operations() -> None:
    """`tests/tools/test_house.py` says what it has of each of them; `python -m tests.quick` makes the list again."""
    listed = {id_ for ids in quick_cases().values() for id_ in ids}

    assert len(listed) <= MOST
    assert {id_.partition("/")[0] for id_ in listed} == {*shipped_operations(), GRAPH}


def test_a_suite_of_the_profile_has_the_listed_cases(quick_suite: Path) -> None:
    """It says that it is a selection, and no warning says that one is missing."""
    suite = open_suite(quick_suite)

    assert [*suite.by_id] == sorted(id_ for ids in quick_cases().values() for id_ in ids if id_.startswith("Split-1/"))
    assert (suite.header.profiles, suite.header.is_selection) == ((QUICK,), True)
    assert suite.release_difference == ""


def test_a_listed_case_that_is_gone_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contributor who changes a group would otherwise lose its cases silently."""
    own = tmp_path / "own.yaml"
    own.write_text(OWN.replace("    profile: quick\n", ""))
    listed = {"Split-1/halves": ("Split-1/halves/0123456789", *(x.id for x in expand(load_specs([own])[0].groups[0])))}
    for module in ("generation.pipeline", "suite.selection.quick"):
        monkeypatch.setattr(f"opconform.{module}.quick_cases", lambda: listed)
    options = Options(dialects=(), selection=Selection(profiles=(QUICK,)))

    assert generate(load_specs([own]), tmp_path / "suite", options).warnings[-1] == (
        "The profile quick lists 1 case that the specs do not have, such as Split-1/halves/0123456789."
    )


def test_whole_profiles_beside_it_are_whole(tmp_path: Path) -> None:
    """With `core`, nothing is left out, and the suite is not a selection."""
    options = Options(dialects=(), selection=Selection(profiles=(QUICK, "core")))
    suite = open_suite(generate(load_specs([Path("Reverse-1")]), tmp_path / "suite", options).out)

    assert not suite.header.is_selection
    assert len(suite.entries) > len(
        [x for group, ids in quick_cases().items() if group.startswith("Reverse-1/") for x in ids]
    )


def test_a_profile_of_this_name_in_a_spec_is_whole(opconform: Run, tmp_path: Path) -> None:
    """A user's own spec means its own groups."""
    (tmp_path / "own.yaml").write_text(OWN)
    opconform("generate", tmp_path / "own.yaml", "--profile", QUICK, "--out", tmp_path / "suite")
    suite = open_suite(tmp_path / "suite")

    assert (len(suite.entries), suite.header.is_selection) == (1, False)


def test_specs_without_a_listed_group_do_not_have_the_profile(opconform: Run, tmp_path: Path) -> None:
    """The error does not offer it."""
    (tmp_path / "own.yaml").write_text(OWN.replace("quick", "core"))
    failed = opconform("generate", tmp_path / "own.yaml", "--profile", QUICK, "--out", tmp_path / "suite", code=2)

    assert failed.stderr == "error: Profile 'quick' is not in the specs. Allowed: default, core.\n"


def test_a_mistyped_name_is_refused_with_a_hint(opconform: Run, tmp_path: Path) -> None:
    """As for any profile."""
    failed = opconform("generate", "Split-1", "--profile", "qiuck", "--out", tmp_path / "suite", code=2)

    assert "Profile 'qiuck' is not in the specs. Did you mean 'quick'? Allowed: " in failed.stderr


def test_a_suite_of_the_core_is_run_on_the_listed_cases(opconform: Run, small_core: Path, tmp_path: Path) -> None:
    """`run` and `list` select from any suite that has some."""
    opconform("run", small_core, "numpy", "--profile", QUICK, "--out", tmp_path / "out")
    listed = {id_ for ids in quick_cases().values() for id_ in ids}
    report = report_in(tmp_path / "out")

    assert {case["id"] for case in report["cases"]} == listed & open_suite(small_core).by_id.keys()
    assert report["partial"]


@pytest.fixture(scope="module")
def small_core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The core of one operation."""
    options = Options(dialects=(), selection=Selection(profiles=("core",)))
    return generate(load_specs([Path("Split-1")]), tmp_path_factory.mktemp("core") / "suite", options).out


def test_a_certification_says_that_it_is_a_selection_and_cannot_be_signed(opconform: Run, tmp_path: Path) -> None:
    """Whole profiles are what a certificate counts."""
    done = opconform("certify", "numpy", "Reverse-1", "--profile", QUICK, "--out", tmp_path / "out")
    opconform("certificate", "keygen", tmp_path / "me")
    key = tmp_path / "me.key"
    refused = opconform("certificate", "sign", tmp_path / "out", "--key", key, code=1)
    early = opconform(
        "certify", "numpy", "Reverse-1", "--profile", QUICK, "--out", tmp_path / "signed", "--sign", key, code=2
    )
    advice = "Only whole profiles can be signed: certify core, or leave --profile out."

    assert "This run covers only the profile quick, a selection of cases that cannot be signed." in " ".join(
        done.stdout.split()
    )
    assert refused.stderr.endswith(f"covers the profile quick, a selection of cases. {advice}\n")
    assert early.stderr.endswith(f"error: The profile quick is a selection of cases. {advice}\n")
