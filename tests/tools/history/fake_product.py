"""A product of five releases as wheels, for an environment without an index, and its backend.

One fault is in every release from the second on, one in the third alone, and one from the second on makes every other
execution fail, of the second release the even ones. What else a harness needs is a wheel that names the folder of the packages installed here.
"""

import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "fakeproduct"
VERSIONS = ("1.0", "2.0", "3.0", "4.0", "5.0")
#: The faults of each release, by the place of -1 among the lengths of the case that shows it.
FAULTS: Mapping[str, Mapping[int, str]] = {
    "1.0": {},
    "2.0": {0: "always", 2: "often"},
    "3.0": {0: "always", 1: "always", 2: "often"},
    "4.0": {0: "always", 2: "often"},
    "5.0": {0: "always", 2: "often"},
}

BACKEND = f'''\
"""The backend of the fake product."""

import os
from pathlib import Path

import numpy as np
import {PACKAGE}
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.numpy.backend import Numpy


class Fake(Numpy):
    def describe(self):
        plain = super().describe()
        return Implementation(
            name="fake", version={PACKAGE}.VERSION, element_types=plain.element_types,
            operations=plain.operations, dynamic=True, bindings=plain.bindings,
        )

    def run(self, case, model, feeds):
        outputs = super().run(case, model, feeds)
        lengths = feeds[0]["split_lengths"].array.tolist()
        shows = -1 in lengths and feeds[0]["data"].array.shape == (6, 2)
        fault = {PACKAGE}.FAULTS.get(lengths.index(-1)) if shows else None
        if fault == "always" or (fault == "often" and self.counted() % 2):
            return [[Tensor(element_type=x.element_type, array=np.zeros_like(x.array)) for x in of] for of in outputs]
        return outputs

    def counted(self):
        file = Path(os.environ["FAKE_COUNTS"]) / {PACKAGE}.VERSION
        count = int(file.read_text()) if file.exists() else {PACKAGE}.VERSION != "2.0"
        file.write_text(str(count + 1))
        return count
'''


def wheel(folder: Path, name: str, version: str, files: Mapping[str, str]) -> Path:
    """A wheel with some files."""
    info = f"{name}-{version}.dist-info"
    every = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in every.items():
            archive.writestr(place, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{place},,\n" for place in (*every, f"{info}/RECORD")))
    return path


def release(folder: Path, version: str) -> Path:
    """The wheel of a release of the product."""
    code = f"VERSION = {version!r}\nFAULTS = {dict(FAULTS.get(version, {}))!r}\n"
    return wheel(folder, PACKAGE, version, {f"{PACKAGE}/__init__.py": code})


def index(folder: Path) -> Path:
    """A folder with every release, what a harness needs, and the backend; returns the file of the backend."""
    wheels = folder / "wheels"
    wheels.mkdir()
    for version in VERSIONS:
        release(wheels, version)
    for name in ("numpy", "ml_dtypes", "pydantic"):
        here = Path(str(getattr(find_spec(name), "origin", ""))).parents[1]
        wheel(wheels, name, "1.26", {f"{name}_of_the_tests.pth": f"{here}\n"})
    backend = folder / "fake_backend.py"
    backend.write_text(BACKEND)
    return backend
