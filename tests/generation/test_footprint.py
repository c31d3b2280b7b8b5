"""Footprints: what a case takes is known from its shapes, and what does not fit is refused before it is allocated."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import SuiteError, UsageError
from opconform.generation import pipeline as generating
from opconform.generation.case_files import case_files
from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS, Options
from opconform.generation.output.writer import CaseWriter
from opconform.generation.pipeline import generate
from opconform.model.draft import Draft
from opconform.model.golden import file_bytes, memory_bytes
from opconform.specs.group import Group
from opconform.specs.loader import load_specs
from opconform.system.memory import check_memory, shown_bytes
from tests.conftest import SMALL_SPEC

SPEC = """\
op: Split-1
groups:
  - id: it
    title: any tensor
    data: {DATA}
    axis: 0
    num_splits: 2
"""


def spec_of(folder: Path, data: str) -> Path:
    """A spec of one case with some data."""
    path = folder / "spec.yaml"
    path.write_text(SPEC.replace("DATA", data))
    return path


@pytest.mark.parametrize(
    "data",
    [
        "shape: [20000], element_type: i64",
        "shape: [20000], element_type: u4, fill: bits",
        "shape: [2000], element_type: string",
        "shape: [2000], element_type: string, fill: special",
        "shape: [2000], element_type: string, fill: constant, value: a text of some letters",
    ],
)
def test_the_bytes_of_files_are_known_from_the_shapes(tmp_path: Path, data: str) -> None:
    """Never more than there are, and at most 6,000 bytes of headers and model less; text has an upper bound."""
    [case] = expand(load_specs([spec_of(tmp_path, data)])[0].groups[0])
    _, contents = case_files(case, Options())
    actual = sum(map(len, contents.values()))

    assert actual - 6_000 < file_bytes(case) < actual * (1.2 if "string" in data else 1)


def test_a_shape_of_24_gib_is_refused_before_it_is_allocated(tmp_path: Path) -> None:
    """First for the suite's limit of bytes, then for the memory that is free; and nothing is written."""
    specs = load_specs([spec_of(tmp_path, "shape: [1099511627776], element_type: f64")])
    limits = replace(LIMITS, elements=1 << 40)
    with pytest.raises(UsageError) as too_large:
        generate(specs, tmp_path / "out" / "suite", Options(limits=limits))
    with pytest.raises(UsageError) as too_much_memory:
        generate(specs, tmp_path / "out" / "suite", Options(limits=replace(limits, bytes=1 << 50)))

    place = re.escape(f"{tmp_path}/spec.yaml:3:5")
    said = r"with group 'it', the suite takes at least [\d,]+ bytes, more than the limit of [\d,]+; raise it with --max-bytes\."
    assert re.fullmatch(f"{place}: {said}", str(too_large.value))
    said = r"a case of group 'it' needs 48\.0 TiB of memory, but only [\d.]+ [GM]iB is free\."
    assert re.fullmatch(f"{place}: {said}", str(too_much_memory.value))
    assert not list((tmp_path / "out").iterdir())


def test_the_bytes_of_all_cases_count(tmp_path: Path) -> None:
    """Not those of one alone."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL_SPEC)
    with pytest.raises(UsageError, match=r"raise it with --max-bytes\.$"):
        generate(load_specs([path]), tmp_path / "suite", Options(limits=replace(LIMITS, bytes=500)))


def test_cases_that_do_not_fit_side_by_side_are_made_one_after_the_other(
    tmp_path: Path, small_spec: Path, small_suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each fits alone, the suite is the same, however many processes there are."""
    specs = load_specs([small_spec])
    most = max(memory_bytes(case, file_bytes(case)) for group in specs[0].groups for case in expand(group))
    monkeypatch.setattr(generating, "free_memory", lambda: most)
    generated = generate(specs, tmp_path / "suite", Options(jobs=2))

    assert (tmp_path / "suite" / "manifest.jsonl").read_bytes() == (small_suite / "manifest.jsonl").read_bytes()
    assert generated.header.counts == {"accept": 5, "reject": 1}


SHOWN: Mapping[int, str] = {
    0: "0 bytes",
    1023: "1,023 bytes",
    1 << 10: "1.0 KiB",
    24 << 30: "24.0 GiB",
    1 << 70: "1,048,576.0 PiB",
}


@pytest.mark.parametrize("size", SHOWN)
def test_bytes_are_shown_in_their_unit(size: int) -> None:
    """The largest of which there is one."""
    assert shown_bytes(size) == SHOWN[size]


def test_what_does_not_fit_into_memory_is_refused() -> None:
    """Whatever it is."""
    check_memory(1, "a byte")
    with pytest.raises(SuiteError, match=r"^a file needs 1\.0 PiB of memory, but only .* is free\.$"):
        check_memory(1 << 50, "a file")


def groups_of(number: int, cases: int, elements: int) -> str:
    """A spec of some groups of some cases with as many elements each."""
    group = SPEC.partition("groups:\n")[2].replace("DATA", f'shape: ["${{{{ {elements} + 2 * n }}}}"]')
    body = group.replace("    data:", f"    matrix: {{n: '${{{{ range({cases}) }}}}'}}\n    data:")
    return "op: Split-1\ngroups:\n" + "".join(body.replace("id: it", f"id: it-{index}") for index in range(number))


@pytest.mark.parametrize(("number", "cases", "elements"), [(100, 1, 1 << 20), (2, 200, 1_000), (200, 2, 1_000)])
def test_a_suite_over_the_limit_is_refused_before_a_case_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, cases: int, elements: int
) -> None:
    """Whether there are large tensors or many of them, in one group or in many."""
    (tmp_path / "spec.yaml").write_text(groups_of(number, cases, elements))
    monkeypatch.setattr(CaseWriter, "write", lambda *_: pytest.fail("a case is written"))
    limit = number * cases * elements * 7  # of at least 8 bytes for each element and its copy in an output
    with pytest.raises(UsageError, match=r"the suite takes at least .* raise it with --max-bytes"):
        generate(load_specs([tmp_path / "spec.yaml"]), tmp_path / "suite", Options(limits=replace(LIMITS, bytes=limit)))

    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]


@pytest.mark.parametrize(("limit", "times"), [(16 << 30, 1), (2 << 20, 2)])
def test_cases_are_expanded_twice_only_if_they_may_be_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, times: int
) -> None:
    """A suite that is far below the limit is not measured beforehand."""
    (tmp_path / "spec.yaml").write_text(groups_of(3, 5, 1_000))
    expanded = Counter[str]()

    def counting(group: Group, **given: Any) -> Iterator[Draft]:
        expanded[group.id] += 1
        return expand(group, **given)

    monkeypatch.setattr(generating, "expand", counting)
    generate(load_specs([tmp_path / "spec.yaml"]), tmp_path / "suite", Options(limits=replace(LIMITS, bytes=limit)))

    assert expanded == {f"it-{index}": times for index in range(3)}
