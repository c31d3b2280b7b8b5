"""The arrays that the C++ harness reads: hostile files take neither the memory nor the stack."""

import io
import resource
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from opconform.tensors.npz import npz_bytes
from tests.conftest import ROOT

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(300)]  # a compiler
#: The memory and the stack of the program, in bytes.
MEMORY, STACK = 1 << 28, 1 << 18
#: What comes before the header of an array, and an ordinary header.
MAGIC, HEADER = b"\x93NUMPY\1\0", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that reads a file as the harness does."""
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        pytest.skip("g++ and pkg-config are not installed")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libzip"], capture_output=True, text=True, check=False)
    if flags.returncode:
        pytest.skip("libzip is not installed")
    place, cpp = tmp_path_factory.mktemp("cpp") / "read_npz", ROOT / "runners" / "cpp"
    sources = [
        Path(__file__).with_name("read_npz.cpp"),
        *(cpp / f"{name}.cpp" for name in ("npz", "npy", "element_types")),
    ]
    command = ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{cpp}", *map(str, sources)]
    done = subprocess.run(
        [*command, "-o", str(place), *flags.stdout.split()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return place


def read(program: Path, content: bytes, *inputs: str) -> "subprocess.CompletedProcess[str]":
    """What the program says of a file, with little memory."""
    file = program.with_name("inputs.npz")
    file.write_bytes(content)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))

    command = [str(program), str(file), *(word for name in inputs or ("data",) for word in (name, "f32"))]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit, timeout=60)


def zipped(array: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file with one array."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("data.npy", array)
    return stream.getvalue()


def npy(header: str, elements: bytes = bytes(24)) -> bytes:
    """An array with a header."""
    return MAGIC + struct.pack("<H", len(header) + 1) + f"{header}\n".encode() + elements


def zip64(size: int, method: int) -> bytes:
    """A small zip file whose directory names a large member."""
    name, data = b"data.npy", b"\3\0"
    extra = struct.pack("<HHQQ", 1, 16, size, len(data))
    fields = struct.pack("<HHHHHI", 45, 0, method, 0, 0, 0) + b"\xff" * 8 + struct.pack("<HH", len(name), len(extra))
    local = b"PK\3\4" + fields + name + extra + data
    central = b"PK\1\2" + struct.pack("<H", 45) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name + extra
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + end


@pytest.mark.parametrize(
    ("shape", "expected"), [((), ""), ((0,), " 0"), ((5,), " 5"), ((2, 3), " 2 3"), ((1,) * 30, " 1" * 30)]
)
def test_arrays_of_any_rank_are_read(program: Path, shape: tuple[int, ...], expected: str) -> None:
    """As opconform writes them, and as numpy does."""
    array = np.zeros(shape, np.float32)
    stream = io.BytesIO()
    np.savez(stream, data=array)
    for content in (npz_bytes({"data": array}), stream.getvalue()):
        done = read(program, content)
        assert (done.returncode, done.stdout) == (0, f"data f32:{expected}: {array.nbytes}\n")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (zip64(15 << 30, zipfile.ZIP_DEFLATED), "it contains a member that is compressed"),
        (zip64(15 << 30, zipfile.ZIP_STORED), "it contains a member that is compressed"),
        (zipped(npy(HEADER), zipfile.ZIP_DEFLATED), "it contains a member that is compressed"),
        (zipped(npy(HEADER.replace("2, 3", "2, 4"))), "does not contain as many elements as its header declares"),
        (zipped(npy(HEADER.replace("2, 3", f"{1 << 62}, 8"))), "has too many elements"),
        (zipped(npy("x" + " " * 9_900)), "the .npy file's header cannot be read: x"),
        (zipped(npy(HEADER + "x" * 9_000)), "the .npy file's header cannot be read: {'descr'"),
        (zipped(npy(HEADER.replace("2, 3", "1, " * 3_000))), "the .npy file's header cannot be read: {'descr'"),
        (zipped(npy(HEADER.replace("2, 3", "6"))), "the .npy file's header cannot be read"),
        (zipped(npy(HEADER.replace("2, 3", "9" * 20 + ","))), "the .npy file's header cannot be read"),
        (zipped(npy(HEADER.replace("<f4", "|O"))), "the .npy file's header cannot be read"),
        (zipped(npy(HEADER.replace("False", "True"))), "the .npy file's header cannot be read"),
        (zipped(b""), "it is not a .npy file"),
    ],
)
def test_a_hostile_file_is_refused_in_a_sentence(program: Path, content: bytes, sentence: str) -> None:
    """In little memory, and with a small stack."""
    done = read(program, content)

    assert (done.returncode, sentence in done.stdout) == (1, True), done
    assert len(done.stdout) < 500


@pytest.mark.parametrize("header", [HEADER + " " * 9_900, HEADER.replace("2, 3", "1, " * 3_000 + "6")])
def test_a_long_header_takes_no_stack(program: Path, header: str) -> None:
    """One of spaces, and one of dimensions, are as numpy could write them."""
    assert read(program, zipped(npy(header))).returncode == 0
