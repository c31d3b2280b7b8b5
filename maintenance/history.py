"""The first and the last release of each finding in the products' folders, from the folder of a history.

`python -m maintenance.history FOLDER` fills the files of the product, by the case of each finding. The cases of a file
are run by `opconform history openvino $(python -m maintenance.history --select openvino-2026.4)`.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from maintenance.findings import FILES, Finding, listed, products

#: The keys that are filled, and a line with one of them.
KEYS = ("first", "last")
_FILLED = re.compile(rf"^    (?:{'|'.join(KEYS)}): .*\n", re.MULTILINE)
#: The block of a finding, up to the next one.
_BLOCK = re.compile(r"^  - number: .*\n(?:    .*\n|\n(?=    ))*", re.MULTILINE)
_CASE = re.compile(r"^    case: (\S+)\n", re.MULTILINE)


def dates(document: Mapping[str, Any], case: str, release: str) -> dict[str, str] | None:
    """The dates of a case's failure in the newest releases that have it; None if it fails in none of the history.

    A finding that the newest release has is given no last one. One whose case happened to pass in the release in which
    it was found is not dated.
    """
    found = document["cases"].get(case)
    if found is None or not found["intervals"]:
        return None
    interval, releases = found["intervals"][-1], [*found["states"]]
    if release in releases and releases.index(interval["last_bad"]) < releases.index(release):
        return None
    earlier = " or earlier" if interval["last_good"] is None and interval["first_bad"] == releases[0] else ""
    last = {} if interval["fails_now"] else {"last": f"{interval['last_bad']}"}
    return {"first": f"{interval['first_bad']}{earlier}", **last}


def filled(text: str, document: Mapping[str, Any], release: str) -> str:
    """The text of a file with the dates of the findings that a history has; all else stays as it is."""

    def block(match: re.Match[str]) -> str:
        case = _CASE.search(match[0])
        known = None if case is None else dates(document, case[1], release)
        if case is None or known is None:
            return match[0]
        lines = "".join(f'    {name}: "{value}"\n' for name, value in known.items())
        return _CASE.sub(lambda own: own[0] + lines, _FILLED.sub("", match[0]))

    return _BLOCK.sub(block, text)


def files_of(product: str) -> Iterator[Path]:
    """The files with the findings of a backend."""
    for name, file in products().items():
        if file.backend == product:
            yield FILES[name]


def main(words: list[str]) -> None:
    """Fill the files of the product of a history, or print the options that select the cases of a file."""
    if words[0] == "--select":
        findings: tuple[Finding, ...] = products()[words[1]].findings
        profiles = sorted({listed(finding.case).case.profile for finding in findings})
        print(*(f"--profile {name}" for name in profiles), *(f"-k {finding.case}" for finding in findings))
        return
    document = json.loads((Path(words[0]) / "history.json").read_text())
    for path in files_of(document["product"]):
        product = products()[path.stem]
        path.write_text(filled(path.read_text(), document, product.release))
        known = [dates(document, finding.case, product.release) for finding in product.findings]
        print(f"{path.name}: {sum(x is not None for x in known)} of {len(known)} findings are dated")


if __name__ == "__main__":
    main(sys.argv[1:])
