"""A check of a harness finds what is wrong with it, and names the rule."""

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from opconform.errors import HarnessError
from opconform.interrupts import run_loop
from opconform.suite.reader import Suite, open_suite
from opconform_runners.harness.command import Command, Launch, backend_command
from opconform_runners.harness.connection import Harness, connect
from opconform_runners.tools.protocol_check.rules import RULES, Checked, check
from tests.conftest import MINIATURES, ROOT, Run

#: How long a reply may take here, in seconds.
_TIMEOUT = 6.0

UNRULY = ROOT / "tests" / "unruly.py"

#: The rule at which each of the unruly harnesses is found out, and a part of the sentence about it.
UNRULINESS = {
    "NamesAnotherRequirement": ("start", "`mapped` names 'Split-1:lengths.sum', which does not exist"),
    "NamesAnotherDialect": ("start", "`dialects` names 'openvinoo', which does not exist"),
    "StartsUnasked": ("start", "unexpected output"),
    "PrintsBetween": ("smoke", "is not JSON"),
    "Sleeps": ("smoke", "no reply within 6 seconds"),
    "AnswersTwice": ("order", "second reply"),
    "RefusesEverything": ("smoke", "none of 5 simple cases passes"),
    "AddsAKey": ("smoke", "`mood` is not a key of this message"),
    "CountsInText": ("smoke", '`seq` is "1": input should be a valid integer'),
    "AlwaysTheFirst": ("order", "`seq` is not that of the request"),
    "CountsIn32Bits": ("order", "`seq` is not that of the request"),
    "LastFirst": ("order", "`seq` is not that of the request"),
    "ReadsShortLines": ("long-line", "too long"),
    "WritesNothing": ("smoke", "the harness replied `ok` but wrote no outputs"),
    "Pickles": ("smoke", "pickled"),
    "NamesOutputsOtherwise": ("smoke", "arr_0"),
    "WidensFloats": ("smoke", "output_0: expected f32, got float64 in the file"),
    "ReturnsZeros": ("smoke", "none of 5 simple cases passes"),
    "LosesAnOutput": ("smoke", "outputs"),
    "ForgetsTheSecondFeed": ("feeds", "the harness replied `ok` but wrote no outputs"),
    "RepeatsTheFirstFeed": ("feeds", "feed 1"),
    "NamesOneType": ("smoke", "the harness reported the element types of 1 output, but wrote "),
    "Exaggerates": ("smoke", "`seconds` is more than the time from the request to the reply"),
    "FailsWhereItIsRefused": ("bad-cases", "is answered `error`"),
    "DiesWhereItIsRefused": ("bad-cases", "no reply, and the harness ended with code 1"),
    "RefusesWithoutAStage": ("bad-cases", "`stage` is missing"),
    "FailsAtOtherTypes": ("bad-cases", "is answered `error`"),
    "RefusesAtLength": ("bad-cases", "the harness wrote a line of more than 1,048,576 bytes"),
    "DiesWithoutFiles": ("files", "no reply, and the harness ended with code 1"),
    "RefusesMissingFiles": ("files", "the reply is not `error`, although the file of `dir` does not exist"),
    "ReadsPlainPaths": ("paths", ""),
    "StaysInItsFolder": ("paths", ""),
    "RepliesWithText": ("inline", "the outputs in the reply are not base64"),
    "ReadsTheFirstDialect": ("graphs", "not read"),
    "ExecutesBareNodes": ("graphs", "no such graph"),
    "GoesOnAfterStop": ("end", "it did not end within 2 seconds of `stop`"),
    "GoesOnAfterTheEnd": ("end", "it did not end within 2 seconds of the end of its input"),
}
#: The replies to `start` with which a harness is not used, here and in a run, and a part of the sentence about each.
UNUSABLE = {
    "LeavesBindingsOut": "bindings is wrong",
    "NamesFloat32": "it declares the element type 'float32', which does not exist",
    "SaysYes": "dynamic is wrong",
    "NamesAnotherOperation": "it declares the operation 'Split' without a version",
    "ListsNoOperation": "it declares neither dialects nor operations",
    "SpeaksFirst": "a line that is not JSON: 'welcome'",
}
#: The harnesses that are checked with every run of the tests; a check takes seconds, since it starts a harness often.
SAMPLE = ("PrintsBetween", "LastFirst", "WritesNothing", "LosesAnOutput", "DiesWhereItIsRefused")


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The core's cases of three operations, with the bare layer as a second dialect."""
    out = tmp_path_factory.mktemp("check") / "suite"
    opconform("generate", "Concat-1", "Split-1", "VariadicSplit-1", "--profile", "core", "--out", out)
    suite = open_suite(out)
    dialects = {**suite.header.dialects, "layer": "openvino/layer.xml"}
    return dataclasses.replace(suite, header=dataclasses.replace(suite.header, dialects=dialects))


async def declared(command: Command) -> Harness:
    """A harness that has answered `start`, stopped again."""
    harness = await connect(command)
    await harness.process.stop()
    return harness


def checked(command: Command, suite: Suite) -> dict[str, Checked]:
    """The result for each rule, by its id."""
    found = check(Launch(command=command, timeout=_TIMEOUT), run_loop(declared(command)), suite)
    return {result.id: result for result in found}


def unruly(name: str) -> Command:
    """The command of one of the unruly harnesses."""
    return Command(arguments=(sys.executable, str(UNRULY), name), name=name)


def broken(found: dict[str, Checked]) -> dict[str, str]:
    """The sentence of each broken rule."""
    return {name: each.violation.sentence for name, each in found.items() if each.violation is not None}


@pytest.mark.parametrize(
    "name", ["numpy", *(pytest.param(each, marks=pytest.mark.ci_only) for each in ("openvino", f"{MINIATURES}:Chats"))]
)
def test_a_shipped_harness_obeys_every_rule(suite: Suite, name: str) -> None:
    """The Python harness obeys the protocol with every backend."""
    found = checked(backend_command(name), suite)

    assert broken(found) == {}
    assert list(found) == list(RULES)
    assert {each.id for each in found.values() if each.not_applicable} <= {"graphs"}


@pytest.mark.parametrize(
    ("name", "unasked"),
    [
        ("Right", {"inline"}),
        pytest.param("TakesInline", set(), marks=pytest.mark.ci_only),
        pytest.param("TwoDialects", {"inline"}, marks=pytest.mark.ci_only),
        pytest.param("Terse", {"inline", "graphs"}, marks=pytest.mark.ci_only),
        pytest.param("RefusesNothing", {"inline"}, marks=pytest.mark.ci_only),
    ],
)
def test_a_harness_that_breaks_no_rule_obeys_every_applicable_rule(suite: Suite, name: str, unasked: set[str]) -> None:
    """Also if its backend accepts invalid cases."""
    found = checked(unruly(name), suite)

    assert broken(found) == {}
    assert {each.id for each in found.values() if each.not_applicable} == unasked


@pytest.mark.parametrize(
    "name", [each if each in SAMPLE else pytest.param(each, marks=pytest.mark.ci_only) for each in UNRULINESS]
)
def test_a_broken_rule_is_named(suite: Suite, name: str) -> None:
    """The first rule that a harness breaks, with a sentence about how."""
    rule, word = UNRULINESS[name]
    rules = broken(checked(unruly(name), suite))

    assert next(iter(rules)) == rule
    assert word in rules[rule]


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_wrong_reply_to_start_is_reported(name: str) -> None:
    """As in a run."""
    with pytest.raises(HarnessError, match=UNUSABLE[name]):
        run_loop(declared(unruly(name)))


def test_a_harness_that_passes_nothing_ends_with_1(opconform: Run) -> None:
    """The last line says so, although no rule is broken."""
    done = opconform("harness", "check", "--harness", f"{sys.executable} {UNRULY} DeclaresNoCase", code=1)

    assert done.stdout.splitlines()[-1].endswith(
        "The harness was not checked, because no simple case was executed: see smoke."
    )


def test_a_harness_that_cannot_be_started_ends_with_3(opconform: Run) -> None:
    """Nothing can be checked, and one sentence says why."""
    done = opconform("harness", "check", "--harness", "false", code=3)

    assert done.stderr == "error: The harness false cannot be started: it ended with code 1.\n"
    assert done.stdout == ""


def test_json_has_the_result_for_each_rule(opconform: Run) -> None:
    """One document, with the request and the reply that show a violation."""
    done = opconform("harness", "check", "--harness", f"{sys.executable} {UNRULY} AddsAKey", "--json", code=1)
    document = json.loads(done.stdout)

    assert (document["harness"], document["holds"]) == (Path(sys.executable).name, False)
    assert [each["id"] for each in document["rules"]] == list(RULES)
    [violation] = [each["violation"] for each in document["rules"] if each["id"] == "smoke"]
    assert violation["wrong"] == "`mood` is not a key of this message"
    assert violation["request"].startswith('{"cmd":"run","seq":1,')
    assert violation["reply"].startswith('{"seq": 1, "status": "ok"')
