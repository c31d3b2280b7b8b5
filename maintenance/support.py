"""How well rules of support hold for cases that they were not learnt from: `python -m maintenance.support OUT SUITE`."""

import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

from opconform.suite.reader import open_suite
from opconform_runners.findings.support.learner import is_executed, is_refused, learnt
from opconform_runners.findings.support.rules import facts_of_entry
from opconform_runners.reports.report_file import read_report

PARTS = 5


def held_out(out: Path, place: Path) -> Counter[tuple[str, bool]]:
    """How many refused and executed cases meet a rule that was learnt from the other four fifths of the cases."""
    suite, report = open_suite(place), read_report(out, place)
    valid = [result for result in report.results if result.expect == "accept"]
    refused, executed = ([result.id for result in valid if kind(result)] for kind in (is_refused, is_executed))
    facts = {name: facts_of_entry(suite, suite.by_id[name]) for name in (*refused, *executed)}
    part = {name: int(sha256(name.encode()).hexdigest(), 16) % PARTS for name in facts}
    counts: Counter[tuple[str, bool]] = Counter()
    for number in range(PARTS):
        known = [[name for name in names if part[name] != number] for names in (refused, executed)]
        support = learnt(facts, known[0], known[1], report.implementation)
        for answer, names in (("refused", refused), ("executed", executed)):
            for name in names:
                op = name.partition("/")[0]
                if part[name] == number and op in support.supported:
                    counts[answer, any(x.rule.meets(op, facts[name]) for x in support.rules)] += 1
    return counts


if __name__ == "__main__":
    found = held_out(Path(sys.argv[1]), Path(sys.argv[2]))
    met, of = found["refused", True], found["refused", True] + found["executed", True]
    print(f"{met:,} of {of:,} cases that meet a rule are refused ({met / of:.0%})")
    print(
        f"{met:,} of {met + found['refused', False]:,} refused cases meet a rule ({met / (met + found['refused', False]):.0%})"
    )
