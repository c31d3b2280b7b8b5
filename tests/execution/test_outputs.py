"""Files of outputs: how large they may be, and what is refused."""

import io
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.npz import npz_bytes
from opconform.tensors.tensor import Array
from opconform_runners.execution.log.outputs import PLENTY, output_limit, read_outputs
from opconform_runners.harness.outcome import Error, Oversized

SPEC = """\
op: Split-1
groups:
  - id: second-feed
    title: a second feed that is much larger than the first
    requirements: [outputs.shape]
    data: {shape: [4, 2], element_type: u8}
    dynamic: ["?", "?"]
    axis: 0
    num_splits: 2
    feed: {data: {shape: [2, 8192], element_type: u8}}
  - id: long-text
    title: two strings of which one is long
    requirements: [outputs.shape]
    data: {shape: [2], element_type: string, values: [a, LONG]}
    axis: 0
    num_splits: 2
  - id: many-texts
    title: a hundred strings of which one is long
    requirements: [outputs.shape]
    data: {shape: [100], element_type: string, values: "${{ ['b' * 300] + ['a'] * 99 }}"}
    axis: 0
    num_splits: 2
  - id: refused
    title: a tensor that cannot be halved
    requirements: [num_splits.divides]
    data: {shape: [4097], element_type: u8}
    axis: 0
    num_splits: 2
    expect: {reject: num_splits.divides}
    twin: {data: {shape: [4096], element_type: u8}}
"""

#: The files of arrays that a case may have.
NPZ = {"inputs.npz", "inputs.1.npz", "expected.npz", "expected.1.npz"}


@pytest.fixture(scope="module", params=[False, True], ids=["with-outputs", "blind"])
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    """Cases of large outputs, in a suite with its expected outputs and in a blind one."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "large.yaml").write_text(SPEC.replace("LONG", "b" * 15_000))
    out = folder / "suite"
    generate(load_specs([folder / "large.yaml"]), out, Options(limits=LIMITS, blind=request.param, dialects=()))
    yield open_suite(out)
    shutil.rmtree(folder)


def padded(arrays: list[Array]) -> list[Array]:
    """The same outputs, each text stored as long as the longest, which `.npy` allows."""
    longest = max(array.dtype.itemsize for array in arrays)
    return [array.astype(f"<U{longest // 4}") if array.dtype.kind == "U" else array for array in arrays]


def test_the_output_limit_leaves_room_for_correct_outputs(suite: Suite) -> None:
    """The limit considers every feed, and the real size of strings."""
    for entry in suite.entries:
        case, known = suite.case(entry), 0
        for item in (entry, suite.by_id[entry.twin or entry.id]):
            known += sum(array.nbytes for name in NPZ & set(item.files) for array in suite.arrays(item, name).values())
        for feed in range(case.feeds):
            halves = padded(np.array_split(suite.arrays(entry, inputs_name(feed))["data"], 2))
            size = len(npz_bytes({f"output_{number}": halve for number, halve in enumerate(halves)}))
            assert size + PLENTY < output_limit(suite, entry, case) < 5 * known + 2 * PLENTY, entry.id


def write_npy(path: Path, header: bytes, elements: bytes = b"") -> None:
    """A file of one output with a given header."""
    head = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("output_0.npy", head + elements)


def write_link(path: Path) -> None:
    """A symbolic link to right outputs."""
    (path.parent / "right.npz").write_bytes(npz_bytes({"output_0": np.zeros(2)}))
    path.symlink_to(path.parent / "right.npz")


def write_hard_link(path: Path) -> None:
    """Another name of right outputs."""
    (path.parent / "right.npz").write_bytes(npz_bytes({"output_0": np.zeros(2)}))
    path.hardlink_to(path.parent / "right.npz")


def write_bomb(path: Path) -> None:
    """A file that unpacks to far more than it takes."""
    content = io.BytesIO()
    np.lib.format.write_array(content, np.zeros(1 << 17, np.uint8))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("output_0.npy", content.getvalue())


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a FIFO": (os.mkfifo, "it cannot be read: it is not a regular file"),
    "a folder": (Path.mkdir, "it cannot be read: it is not a regular file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it cannot be read: it is a symbolic link"),
    "a link": (write_link, "it cannot be read: it is a symbolic link"),
    "a hard link": (write_hard_link, "it cannot be read: it is a hard link to another file"),
    "a bomb": (write_bomb, "it contains 131,200 bytes of arrays; at most 4,096 are allowed"),
    "a shape of truth": (
        lambda path: write_npy(path, b"{'descr': '|u1', 'fortran_order': False, 'shape': (True, 4)}", bytes(4)),
        "it is not a readable .npz file",
    ),
    "brackets": (lambda path: write_npy(path, b"(" * 3_000), "it is not a readable .npz file"),
    "another name": (
        lambda path: path.write_bytes(npz_bytes({"y": np.zeros(2)})),
        "the arrays in it are called y, not output_0, output_1, …",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_output_file_is_reported_in_one_sentence(tmp_path: Path, name: str) -> None:
    """Nothing blocks, no other exception is raised, and no link is followed."""
    make, sentence = UNREADABLE[name]
    make(tmp_path / "outputs.npz")

    read = read_outputs(tmp_path / "outputs.npz", "it", limit=4_096)

    assert isinstance(read, Error)
    assert read.sentence.startswith(sentence)
    assert len(read.sentence) <= 400


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    """The sparse file would fill the memory."""
    with (tmp_path / "outputs.npz").open("wb") as file:
        file.truncate(1 << 42)

    assert read_outputs(tmp_path / "outputs.npz", "it", limit=4_096) == Oversized(size=1 << 42)


def test_outputs_are_ordered_by_number(tmp_path: Path) -> None:
    """Not by their order in the file."""
    path = tmp_path / "outputs.npz"
    path.write_bytes(npz_bytes({"output_1": np.ones(2), "output_0": np.zeros(1)}))

    read = read_outputs(path, "it", limit=4_096)

    assert isinstance(read, tuple)
    assert [x.shape for x in read] == [(1,), (2,)]
