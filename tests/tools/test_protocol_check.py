"""A check of a harness finds what is wrong with it, and names the rule."""

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from opconform.errors import HarnessError
from opconform.specs.group import Spec
from opconform.specs.loader import load_specs
from opconform.suite.reader import Suite, open_suite
from opconform.system.interrupts import run_loop
from opconform_runners.cli import harness as harness_command
from opconform_runners.harness.command import Command, Launch, backend_command
from opconform_runners.harness.connection import Harness, connect
from opconform_runners.tools.protocol_check.check import RuleResult, check_protocol
from opconform_runners.tools.protocol_check.rules import RULES
from tests.conftest import MINIATURES, ROOT, Run
from tests.fake_harnesses import command, words
from tests.fake_harnesses.rules import RULE_BREAKERS, UNUSABLE
from tests.sampling import in_line

#: How long a reply may take here, in seconds.
_TIMEOUT = 6.0

#: The harnesses that are checked with every run of the tests; a check takes seconds, since it starts a harness often.
SAMPLE = ("prints between",)
#: The operations whose cases are used here; those of all operations take seconds to generate.
OPERATIONS = ("Concat-1", "Split-1", "VariadicSplit-1")


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The core's cases of three operations, with the bare layer as a second dialect."""
    out = tmp_path_factory.mktemp("check") / "suite"
    opconform("generate", *OPERATIONS, "--profile", "core", "--out", out)
    suite = open_suite(out)
    dialects = {**suite.header.dialects, "layer": "openvino/layer.xml"}
    return dataclasses.replace(suite, header=dataclasses.replace(suite.header, dialects=dialects))


async def declared(command: Command) -> Harness:
    """A harness that has answered `start`, stopped again."""
    harness = await connect(command)
    await harness.process.stop()
    return harness


def checked(command: Command, suite: Suite) -> dict[str, RuleResult]:
    """The result for each rule, by its id."""
    found = check_protocol(Launch(command=command, timeout=_TIMEOUT), run_loop(declared(command)), suite)
    return {result.id: result for result in found}


def fake_command(name: str) -> Command:
    """The command of a fake harness."""
    return Command(arguments=words(name), name=name)


def broken(found: dict[str, RuleResult]) -> dict[str, str]:
    """The sentence of each broken rule."""
    return {name: hit.violation.sentence for name, hit in found.items() if hit.violation is not None}


@pytest.mark.parametrize("name", in_line(["numpy", "openvino", f"{MINIATURES}:Chats"]))
def test_a_shipped_harness_obeys_every_rule(suite: Suite, name: str) -> None:
    """The Python harness obeys the protocol with every backend."""
    found = checked(backend_command(name), suite)

    assert broken(found) == {}
    assert list(found) == list(RULES)
    assert {hit.id for hit in found.values() if hit.not_applicable} <= {"graphs"}


@pytest.mark.parametrize(
    ("name", "unasked"),
    [
        pytest.param("lawful", {"inline"}, marks=pytest.mark.ci_only),
        pytest.param("takes inline tensors", set(), marks=pytest.mark.ci_only),
        pytest.param("reads two dialects", {"inline"}, marks=pytest.mark.ci_only),
        pytest.param("terse", {"inline", "graphs"}, marks=pytest.mark.ci_only),
        pytest.param("accepts invalid cases", {"inline"}, marks=pytest.mark.ci_only),
    ],
)
def test_a_harness_that_breaks_no_rule_obeys_every_applicable_rule(suite: Suite, name: str, unasked: set[str]) -> None:
    """Also if its backend accepts invalid cases."""
    found = checked(fake_command(name), suite)

    assert broken(found) == {}
    assert {hit.id for hit in found.values() if hit.not_applicable} == unasked


@pytest.mark.parametrize(
    "name",
    in_line(RULE_BREAKERS, *SAMPLE),
)
def test_a_broken_rule_is_named(suite: Suite, name: str) -> None:
    """The first rule that a harness breaks, with a sentence about how."""
    rule, word, _ = RULE_BREAKERS[name]
    rules = broken(checked(fake_command(name), suite))

    assert next(iter(rules)) == rule
    assert word in rules[rule]


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_wrong_reply_to_start_is_reported(name: str) -> None:
    """As in a run."""
    with pytest.raises(HarnessError, match=UNUSABLE[name].sentence):
        run_loop(declared(fake_command(name)))


@pytest.fixture
def few_specs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `harness check` generate the cases of some operations only."""
    monkeypatch.setattr(harness_command, "load_specs", lambda _: load_specs([ROOT / "cases" / op for op in OPERATIONS]))


@pytest.mark.ci_only
@pytest.mark.usefixtures("few_specs")
def test_a_harness_that_passes_nothing_ends_with_1(opconform: Run) -> None:
    """The last line says so, although no rule is broken."""
    done = opconform("harness", "check", "--harness", command("declares no simple case"), code=1)

    assert done.stdout.splitlines()[-1].endswith(
        "The harness was not checked, because no simple case was executed: see smoke."
    )


def test_the_cases_are_the_shipped_ones_in_a_folder_with_others(
    opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a suite, which has a folder of each operation."""
    asked: list[Path] = []

    def load(paths: Sequence[Path]) -> list[Spec]:
        asked.extend(paths)
        return load_specs([ROOT / "cases" / op for op in OPERATIONS])

    monkeypatch.setattr(harness_command, "load_specs", load)
    (tmp_path / "Concat-1").mkdir()
    opconform("harness", "check", "--harness", command("adds a key"), cwd=tmp_path, code=1)

    assert "Concat-1" in {path.name for path in asked}
    assert all(path.is_absolute() for path in asked)


def test_a_harness_that_cannot_be_started_ends_with_3(opconform: Run) -> None:
    """Nothing can be checked, and one sentence says why."""
    done = opconform("harness", "check", "--harness", "false", code=3)

    assert done.stderr == "error: The harness false cannot be started: it ended with code 1.\n"
    assert done.stdout == ""


@pytest.mark.usefixtures("few_specs")
def test_json_has_the_result_for_each_rule(opconform: Run) -> None:
    """One document, with the request and the reply that show a violation."""
    done = opconform("harness", "check", "--harness", command("adds a key"), "--json", code=1)
    document = json.loads(done.stdout)

    assert (document["harness"], document["holds"]) == (Path(sys.executable).name, False)
    assert [rule["id"] for rule in document["rules"]] == list(RULES)
    [violation] = [rule["violation"] for rule in document["rules"] if rule["id"] == "smoke"]
    assert violation["wrong"] == "`mood` is not a key of this message"
    assert violation["request"].startswith('{"cmd":"run","seq":1,')
    assert violation["reply"].startswith('{"seq": 1, "status": "ok"')
