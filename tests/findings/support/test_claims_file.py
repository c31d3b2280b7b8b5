"""The file of claims: written, read again, and its mistakes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.errors import UsageError
from opconform.suite.case import GRAPH
from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.findings.causes.fact import Fact, sentences
from opconform_runners.findings.support.claims_file import ClaimsFile, parse_claims, read_claims
from opconform_runners.findings.support.fact_parser import parse_fact
from opconform_runners.findings.support.rules import EVERY, Rule, facts_of_entry, parse_rule
from tests.findings.words import fact_of

TYPES = st.lists(st.sampled_from([*ELEMENT_TYPES]), min_size=1, max_size=4, unique=True)
FACTS = st.one_of(
    TYPES.map(lambda names: tuple(Fact("data", "is", name) for name in names)),
    st.integers(0, 12).map(lambda rank: (Fact("data", "has rank", f"{rank} or more"),)),
    st.sampled_from(["an input shape is dynamic", "a setting input is constant", "the context is folded"]).map(
        lambda words: (fact_of(words),)
    ),
)
RULES = st.builds(
    lambda subject, facts: Rule(subject, tuple(sorted(facts, key=sentences))),
    st.sampled_from([EVERY, "Pad-12", "Split-1"]),
    st.lists(FACTS, min_size=1, max_size=3, unique=True),
)
WRITTEN = """\
# All valid cases of the supported operations, without those that a rule or an id below names (docs/support.md).
backend: openvino on CPU
suite: 2.0.0
supported:
- Pad-12
- Split-1
unsupported:
- Pad-12: data has rank 6 or more and pad_mode is 'reflect'
- Split-1/edges/0123456789
- every operation: data is u1, u3 or u6
"""


def test_a_file_has_one_sorted_line_per_operation_and_rule() -> None:
    """Its text and what is read from it are the same."""
    claims = ClaimsFile(
        backend="openvino on CPU",
        suite="2.0.0",
        supported=("Split-1", "Pad-12"),
        rules=(
            parse_rule(EVERY, "data is u1, u3 or u6"),
            parse_rule("Pad-12", "data has rank 6 or more and pad_mode is 'reflect'"),
        ),
        cases=("Split-1/edges/0123456789",),
    )

    assert claims.text == WRITTEN
    assert parse_claims(WRITTEN, "support.yaml").text == WRITTEN


@given(rules=st.lists(RULES, unique=True, max_size=5))
def test_rules_are_read_as_they_were_written(rules: list[Rule]) -> None:
    """Alternatives and several facts too."""
    claims = ClaimsFile(backend="x", suite="2.0.0", supported=("Pad-12", "Split-1"), rules=tuple(rules), cases=())

    assert {*parse_claims(claims.text, "support.yaml").rules} == {*rules}


ACCURATE = """\
# All valid cases of the supported operations, without those that a rule or an id below names (docs/support.md).
backend: x
suite: 2.0.0
supported:
- Exp-1
- MatMul-1
unsupported: []
accuracy:
- Exp-1: f16 bounded, f32 correctly-rounded
- MatMul-1: f32 reduced
"""


def test_accuracy_levels_are_read_as_they_were_written() -> None:
    """One line per operation, with the level of each element type."""
    claims = parse_claims(ACCURATE, "support.yaml")

    assert claims.accuracy == {
        "Exp-1": {"f16": "bounded", "f32": "correctly-rounded"},
        "MatMul-1": {"f32": "reduced"},
    }
    assert claims.text == ACCURATE


def test_mistakes_in_accuracy_levels_are_reported() -> None:
    """Each with its place."""
    lines = "[5, Exp-1: f32 exact, Exp-1: f23 bounded, MatMul-1: 'f32 bounded, f32 reduced', Tile-1: f32 bounded]"
    text = ACCURATE.partition("accuracy:")[0] + f"accuracy: {lines}\n"
    with pytest.raises(UsageError) as caught:
        parse_claims(text, "support.yaml")

    assert [line.partition(": ")[2] for line in str(caught.value).splitlines()] == [
        "Each item has the accuracy levels of an operation, as in `Exp-1: f16 bounded, f32 reduced`.",
        "'exact' is not an accuracy level. Allowed: correctly-rounded, bounded, reduced.",
        "Exp-1 is repeated.",
        "'f23' is not an element type. Did you mean 'f32'?",
        "f32 is repeated.",
        "Tile-1 is not under `supported`, so nothing of it is claimed. Remove this line, or add it.",
    ]


MISTAKES = """\
backend: openvino on CPU
suite: [2]
supported:
- Split-1
- Splat-1
- Split-1
unsupported:
- Split-1: data is f23
- Tile-1: data is f16
- Split-1/edges/0123456789
- Split-1/edges/0123456789
- 5
- Split-1: data is f16
- Split-1: data is f16
clams: []
"""


def test_every_mistake_is_reported_with_its_place() -> None:
    """What is wrong, and what is allowed."""
    with pytest.raises(UsageError) as caught:
        parse_claims(MISTAKES, "support.yaml")

    facts = (
        "Facts are, for example, 'data is f16 or bf16', 'data has rank 5 or more', 'a setting input is given at run time', "
        "'an input shape is dynamic' and 'the context is folded'. Inputs: data, a setting input, axis."
    )
    example = "`Gather-8: data is u1 or u4`, `every operation: data is string` or `Split-1/edges/0123456789`"
    assert str(caught.value).splitlines() == [
        "support.yaml:2:8: suite must be a text.",
        "support.yaml:5:3: 'Splat-1' is not an operation. Did you mean 'Split-1'? `opconform list` names them.",
        "support.yaml:6:3: Split-1 is repeated.",
        f"support.yaml:8:12: 'data is f23' is not a fact about Split-1. {facts}",
        "support.yaml:9:3: Tile-1 is not under `supported`, so nothing of it is claimed. Remove this line, or add it.",
        "support.yaml:11:3: This repeats line 10.",
        f"support.yaml:12:3: Each item is a rule or the id of a case, as in {example}.",
        "support.yaml:14:3: This repeats line 13.",
        "support.yaml:15:1: Unknown key 'clams'. Allowed: backend, suite, supported, unsupported, accuracy.",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "support.yaml:1:1: A file of claims has the keys backend, suite, supported, unsupported, accuracy."),
        ("backend: [", "support.yaml:1:11: This is not YAML: expected the node content, but found '<stream end>'."),
        ("[" * 2_000, "support.yaml:1:1: This is not YAML: it has a forbidden character, or nests too deeply."),
        ("a: \0", "support.yaml:1:1: This is not YAML: it has a forbidden character, or nests too deeply."),
    ],
)
def test_a_text_that_is_no_file_of_claims_is_refused(text: str, said: str) -> None:
    """In one sentence."""
    with pytest.raises(UsageError) as caught:
        parse_claims(text, "support.yaml")

    assert str(caught.value).splitlines()[0] == said


def test_a_missing_file_says_how_to_write_it(tmp_path: Path) -> None:
    """So does one that is a folder, or no text."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, said in (
        ("none.yaml", "Claims not found: none.yaml. Write them with `opconform support RESULTS -o none.yaml`."),
        ("binary", "binary is not UTF-8. Save the file as UTF-8."),
    ):
        with pytest.raises(UsageError) as caught:
            read_claims(tmp_path / name)
        assert str(caught.value).replace(f"{tmp_path}/", "") == said


def test_every_fact_about_a_case_can_be_in_a_rule(any_core: Path) -> None:
    """So that what is learnt can be read again; nothing is learnt of graphs."""
    suite = open_suite(any_core)
    entries = [entry for entry in suite.entries if entry.op != GRAPH][::23]
    facts = {(entry.op, fact) for entry in entries for fact in facts_of_entry(suite, entry)}
    unknown = {
        (op, fact) for op, fact in facts if fact.subject != "the operation" and parse_fact(fact.sentence, op) != fact
    }

    assert len({op for op, _ in facts}) > len({entry.op for entry in entries}) / 3
    assert not unknown
