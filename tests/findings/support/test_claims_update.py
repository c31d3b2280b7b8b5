"""Updates of a file of claims."""

from opconform_runners.findings.support.claims_file import ClaimsFile, parse_claims
from opconform_runners.findings.support.claims_update import updated_text
from opconform_runners.findings.support.rules import EVERY, parse_rule

OLD = """\
# Ours, reviewed by the kernel team.
backend: openvino on CPU  # the plugin
suite: 1.0.0
supported:
- Pad-12
- Split-1
unsupported:
# https://example.org/7
- Pad-12: data is f16  # no kernel
- Split-1: data is u1
"""
NEW = ClaimsFile(
    backend="openvino on CPU",
    suite="2.0.0",
    supported=("Pad-12", "Roll-7", "Split-1"),
    rules=(
        parse_rule("Pad-12", "data is f16"),
        parse_rule(EVERY, "data is string"),
        parse_rule("Pad-12", "data is bf16"),
    ),
    cases=("Split-1/edges/0123456789",),
)


def test_lines_that_hold_stay_with_their_comments() -> None:
    """New ones are in their sorted places."""
    text = updated_text(parse_claims(OLD, "support.yaml"), NEW)

    assert text == (
        "# Ours, reviewed by the kernel team.\n"
        "backend: openvino on CPU\n"
        "suite: 2.0.0\n"
        "supported:\n- Pad-12\n- Roll-7\n- Split-1\n"
        "unsupported:\n"
        "# https://example.org/7\n"
        "- Pad-12: data is bf16\n"
        "- Pad-12: data is f16  # no kernel\n"
        "- Split-1/edges/0123456789\n"
        "- every operation: data is string\n"
    )
    read = parse_claims(text, "support.yaml")
    assert ({*read.rules}, read.cases, read.supported) == ({*NEW.rules}, NEW.cases, NEW.supported)


def test_lists_in_another_style_are_written_anew() -> None:
    """So is an empty one."""
    text = "backend: x\nsuite: 1.0.0\nsupported: [Split-1]\nunsupported: []\n"

    assert updated_text(parse_claims(text, "support.yaml"), NEW) == NEW.text.partition("\n")[2]
