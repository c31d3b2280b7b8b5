"""A check of a harness finds what is wrong with it, and names the rule."""

import asyncio
import dataclasses
import json
import sys
from pathlib import Path

import pytest

from opconform.operations import OPERATIONS
from opconform.suite.reader import Suite, open_suite
from opconform_runners.harness.command import Command, Launch, backend_command
from opconform_runners.tools.protocol_check.conversation import abridged, greeting_of
from opconform_runners.tools.protocol_check.rules import RULES, Checked, check, is_checked, sentence_of
from tests.conftest import MINIATURES, ROOT, Run
from tests.fake_harnesses import command, words
from tests.fake_harnesses.rules import RULE_BREAKERS, fake

#: How long a reply may take here, in seconds.
_TIMEOUT = 6.0

#: Why rules do not apply to the harnesses here.
NO_DIALECT = {"dialects.each": "the harness declares no dialect"}
NOT_INLINE = {"inline.tensors": "the harness does not declare `inline`"}

#: The harnesses that are checked with every run of the tests; a check takes seconds, since it starts a harness many times.
SAMPLE = ("declares an unknown key", "answers twice", "writes zeros", "ends where it should reject")


@pytest.fixture(scope="module")
def core(core_suite: Path) -> Suite:
    """The core's suite, with the bare layer as a second dialect."""
    suite = open_suite(core_suite)
    dialects = {**suite.header.dialects, "layer": "openvino/layer.xml"}
    return dataclasses.replace(suite, header=dataclasses.replace(suite.header, dialects=dialects))


def checked(command: Command, suite: Suite) -> dict[str, Checked]:
    """The finding for each rule, by its id."""
    launch = Launch(command=command, timeout=_TIMEOUT)
    found = check(launch, asyncio.run(greeting_of(launch)), suite, ["openvino", "layer"])
    return {each.id: each for each in found}


def fake_command(name: str, *operations: str) -> Command:
    """The command of a fake harness."""
    return Command(arguments=words(name, *operations), name=name)


def broken(found: dict[str, Checked]) -> dict[str, list[str]]:
    """The sentences of each broken rule."""
    return {name: list(each.breaches) for name, each in found.items() if each.breaches}


def unasked(found: dict[str, Checked]) -> dict[str, str]:
    """Why rules were not applicable."""
    return {name: each.not_applicable for name, each in found.items() if each.not_applicable is not None}


@pytest.mark.parametrize(
    "name", ["numpy", *(pytest.param(each, marks=pytest.mark.ci_only) for each in ("openvino", f"{MINIATURES}:Chats"))]
)
def test_a_shipped_harness_obeys_every_rule(core: Suite, name: str) -> None:
    """The Python harness obeys the protocol with every backend."""
    found = checked(backend_command(name), core)

    assert broken(found) == {}
    assert list(found) == list(RULES)
    assert "dialects.each" in unasked(found)
    assert set(unasked(found)) <= {"dialects.each", "graphs.each", "unsupported.undeclared"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lawful", {**NO_DIALECT, **NOT_INLINE}),
        ("takes inline tensors", NO_DIALECT),
        ("reads two dialects", {**NOT_INLINE, "graphs.each": "the harness reads a dialect"}),
        (
            "terse",
            {
                "ok.element-types": "the harness does not report `element_types`",
                "ok.seconds": "the harness does not report `seconds`",
                **NO_DIALECT,
                **NOT_INLINE,
                "graphs.each": "the harness declares that it executes no graphs",
            },
        ),
    ],
)
def test_a_harness_that_breaks_no_rule_obeys_every_applicable_rule(core: Suite, name: str, why: dict[str, str]) -> None:
    """Rules that are not applicable have a reason, and no rule is broken."""
    found = checked(fake_command(name), core)

    assert broken(found) == {}
    assert unasked(found) == why


def test_a_child_process_that_is_left_behind_is_a_note(core: Suite) -> None:
    """The child breaks no rule and is reported as a note."""
    found = checked(fake_command("leaves a child"), core)
    [note] = found["end.children"].notes

    assert broken(found) == {}
    assert unasked(found) == {**NO_DIALECT, **NOT_INLINE}
    assert note == "a child process was still running after the harness ended"


@pytest.mark.parametrize(
    "name", [each if each in SAMPLE else pytest.param(each, marks=pytest.mark.ci_only) for each in RULE_BREAKERS]
)
def test_a_broken_rule_is_named_and_no_other(core: Suite, name: str) -> None:
    """Only the rule that a harness breaks is reported as broken, with a sentence about how."""
    rule, word, _ = RULE_BREAKERS[name]
    rules = broken(checked(fake_command(name), core))

    assert list(rules) == [rule]
    assert word in rules[rule][0]


@pytest.mark.parametrize("op", [each for each in OPERATIONS if (ROOT / "cases" / each).is_dir()])
def test_each_operation_alone_has_a_simple_case(core: Suite, monkeypatch: pytest.MonkeyPatch, op: str) -> None:
    """A harness of one operation that numbers every reply wrongly is found out, whatever the operation."""
    monkeypatch.setattr(
        f"{check.__module__}.RULES", {each: RULES[each] for each in ("run.plain", "run.seq", "ok.values")}
    )
    found = checked(fake_command("numbers every reply 1", op), core)

    assert broken(found) == {"run.seq": ["the `seq` of the reply is not that of the request"]}
    assert unasked(found) == {}


def test_a_harness_without_a_simple_case_is_not_checked(core: Suite) -> None:
    """Nothing is known of a harness that declares nothing that a simple case needs."""
    found = checked(fake_command("declares no simple case"), core)

    assert not is_checked(found.values())
    assert unasked(found)["run.plain"] == "no simple case needs only what the harness declares"


def test_a_harness_that_was_not_checked_ends_with_1(opconform: Run) -> None:
    """The last line says so, although no rule is broken."""
    done = opconform("harness", "check", "--harness", command("declares no simple case"), code=1)

    assert done.stdout.splitlines()[-1].endswith(
        "; 20 are not applicable. The harness was not checked, because no simple case was executed: see run.plain."
    )


def test_what_unreadable_outputs_hide_is_not_said_to_hold(core: Suite) -> None:
    """Nothing is known of the types and values of outputs that cannot be read."""
    why = unasked(checked(fake_command("names outputs as numpy does"), core))

    hidden = ("ok.dtype", "ok.values", "ok.two-feeds", "ok.element-types")
    assert {why.get(each) for each in hidden} == {"ok.outputs is broken"}


def test_each_rule_that_can_be_broken_is_broken_by_a_harness_here() -> None:
    """Every rule has a harness that shows that a breach is found."""
    assert {each.rule for each in RULE_BREAKERS.values()} == set(RULES) - {"end.children"}


def test_an_invalid_case_that_the_backend_accepts_is_not_a_fault_of_the_harness(core: Suite) -> None:
    """It is a note that names the case."""
    found = checked(fake_command("accepts invalid cases"), core)

    assert broken(found) == {}
    assert all(each.endswith("is answered `ok`") for each in found["rejected.status"].notes)
    assert len(found["rejected.status"].notes) == 6
    assert unasked(found)["rejected.why"] == "the backend rejected none of the cases"


def test_a_harness_that_cannot_be_started_ends_with_3(opconform: Run) -> None:
    """Nothing can be checked, and one sentence says why."""
    done = opconform("harness", "check", "--harness", "false", code=3)

    assert done.stderr == "error: The harness false cannot be started: it ended with code 1.\n"
    assert done.stdout == ""


def test_json_has_the_finding_for_each_rule(opconform: Run) -> None:
    """One document, with every rule in it."""
    done = opconform("harness", "check", "--backend", "numpy", "--json")
    document = json.loads(done.stdout)

    assert (document["harness"], document["holds"], done.stderr) == ("numpy", True, "")
    assert [each["id"] for each in document["rules"]] == list(RULES)
    assert {each["state"] for each in document["rules"]} == {"holds", "not applicable"}


def test_a_broken_rule_is_shown_with_its_request_and_reply(opconform: Run) -> None:
    """Below the rule stand the request, the reply, and what is wrong with it; the last line counts."""
    done = opconform("harness", "check", "--harness", command("declares an unknown key"), code=1)
    *lines, last = done.stdout.splitlines()
    said = json.dumps(fake("declares an unknown key").said()).encode()

    place = next(number for number, line in enumerate(lines) if line.startswith("✗ "))
    assert " ".join(" ".join(lines[place : place + 2]).split()) == f"✗ start.answer {sentence_of('start.answer')}"
    assert lines[place + 2 : place + 5] == [
        '    → {"cmd":"start","protocol":1}',
        f"    ← {abridged(said)}",
        "    `speed` is not a key of this message",
    ]
    assert "    not applicable: the harness declares no dialect" in lines
    assert last == f"{Path(sys.executable).name}: 25 rules are obeyed, 1 is broken: start.answer; 2 are not applicable."
    assert sum(line[:1] in "✓✗–" for line in lines if line[:1].strip()) == len(RULES)  # noqa: RUF001 - a dash is meant
