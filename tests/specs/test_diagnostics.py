"""Wrong specs: each a clear sentence with its place, all of a file at once, and quickly."""

import os
import resource
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.specs.mistakes_in_cases import IN_CASES
from tests.specs.mistakes_in_files import IN_FILES
from tests.specs.mistakes_in_graphs import IN_GRAPHS
from tests.specs.spec_texts import BODY, HEAD

MISTAKES = {**IN_FILES, **IN_CASES, **IN_GRAPHS}


def computed() -> float:
    """The seconds that ended child processes have computed for, however busy the machine was."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_with_its_place(opconform: Run, tmp_path: Path, name: str) -> None:
    """A wrong spec ends with 2 and a sentence that says what is wrong and where, and computes nothing large."""
    text, sentence = MISTAKES[name]
    (tmp_path / "spec.yaml").write_text(text)
    before = computed()
    done = opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert sentence in done.stderr
    assert done.stderr.startswith("error: spec.yaml:")
    assert computed() - before < 5
    assert not (tmp_path / "suite").exists()


def test_every_mistake_of_every_file_is_reported_at_once(opconform: Run, tmp_path: Path) -> None:
    """Two files with two mistakes each give four lines, sorted by place."""
    (tmp_path / "a.yaml").write_text(HEAD + "    profil: core\n    fil: x\n" + BODY)
    (tmp_path / "b.yaml").write_text(HEAD + "    requirements: [no.such]\n    contxt: bare\n" + BODY)
    done = opconform("generate", "a.yaml", "b.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert [line.removeprefix("error: ").partition(": ")[0] for line in done.stderr.splitlines()] == [
        "a.yaml:5:5",
        "a.yaml:6:5",
        "b.yaml:5:20",
        "b.yaml:6:5",
    ]


def test_an_alias_bomb_is_refused_before_it_goes_off(opconform: Run, tmp_path: Path) -> None:
    """A few lines of aliases that stand for a billion values are reported, and take no memory."""
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (tmp_path / "bomb.yaml").write_text("\n".join(lines))
    before = computed()
    done = opconform("generate", "bomb.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert "The file contains more than 20,000 values with its aliases expanded." in done.stderr
    assert computed() - before < 5


def test_a_file_that_is_not_utf8_is_reported_with_the_byte(opconform: Run, tmp_path: Path) -> None:
    """Latin-1 text is refused at the byte that is not UTF-8."""
    (tmp_path / "latin.yaml").write_bytes(b"op: Split-1\n# caf\xe9\n")
    done = opconform("generate", "latin.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr == "error: latin.yaml:2:6: The byte 0xe9 is not UTF-8; save the file as UTF-8.\n"


def test_a_missing_file_is_reported(opconform: Run, tmp_path: Path) -> None:
    """A path that leads nowhere is a sentence and no traceback."""
    done = opconform("generate", "nowhere.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert (
        done.stderr
        == "error: Spec not found: nowhere.yaml. Name a YAML file, a folder of them, or an operation such as Split-1.\n"
    )


def test_a_spec_that_is_a_fifo_is_refused(opconform: Run, tmp_path: Path) -> None:
    """It is not read, since that would wait for a writer forever."""
    os.mkfifo(tmp_path / "spec.yaml")
    done = opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr == "error: spec.yaml:1:1: The file cannot be read: it is not a regular file.\n"


def test_yaml_1_2_is_read(opconform: Run, tmp_path: Path) -> None:
    """`no` is a text and `010` is ten, as in YAML 1.2."""
    (tmp_path / "spec.yaml").write_text(
        "op: Split-1\ngroups:\n  - id: a\n    title: no\n    data: {shape: [010, 2]}\n    axis: 0\n    num_splits: 5\n"
    )
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    listed = opconform("list", "suite", "--cases", cwd=tmp_path).stdout

    assert listed == "Split-1/a/08a05ce094  accepted: data f32[10, 2], axis 0, num_splits 5\n"


def test_the_mistakes_of_all_groups_are_reported_at_once(opconform: Run, tmp_path: Path) -> None:
    """Mistakes that show only when a group is expanded do not hide those of the next group, and nothing is left."""
    wrong = "  - {{id: {}, title: t, data: {{shape: [6]}}, axis: {}, num_splits: 2}}\n"
    (tmp_path / "a.yaml").write_text(f"op: Split-1\ngroups:\n{wrong.format('a', 1)}{wrong.format('b', 2)}")
    done = opconform("generate", "a.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert [line.partition(": the case")[0] for line in done.stderr.removeprefix("error: ").splitlines()] == [
        "a.yaml:3:49: group 'a': axis",
        "a.yaml:4:49: group 'b': axis",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_mistakes_of_both_kinds_are_reported_at_once(opconform: Run, tmp_path: Path) -> None:
    """A misspelt key in one group does not hide a wrong value in another."""
    right = "    data: {shape: [6]}\n    axis: 0\n"
    (tmp_path / "a.yaml").write_text(
        f"op: Split-1\ngroups:\n  - id: My Group\n    title: t\n{right}    num_splits: ${{{{ 1\n"
        f"  - id: b\n    title: t\n{right}    num_splits: 4\n"
    )
    done = opconform("generate", "a.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr.splitlines() == [
        (
            "error: a.yaml:3:9: id: 'My Group' is not allowed: it must be lower-case words joined by hyphens, as in "
            "zero-length."
        ),
        "a.yaml:7:17: '${{ 1' is not closed; an expression is written between ${{ and }}.",
        (
            "a.yaml:12:17: group 'b': num_splits: the case is expected to be accepted, but it violates num_splits.divides "
            "(num_splits divides the size of the split dimension, since all outputs have the same length); "
            "correct the case, or write `expect: {reject: num_splits.divides}`."
        ),
    ]
