"""A program for an environment with `tosa-tools`: executes graphs of one operation, and checks outputs as TOSA does.

`tosa_program.py FOLDER` reads `requests.json` and `arrays.npz`, and writes `outputs.npz` and `accepted.json`. Arrays of bf16
are unsigned integers of 16 bits.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

warnings.filterwarnings("ignore", category=DeprecationWarning)

import tosa_reference_model  # noqa: E402
from checker.verifier import VerifierLibrary  # noqa: E402
from serializer.tosa_serializer import DType, TosaSerializer, TosaSerializerAttribute  # noqa: E402
from tosa.Op import Op  # noqa: E402

TYPES = {"f32": "FP32", "f16": "FP16", "bf16": "BF16", "i32": "INT32", "boolean": "BOOL", "i8": "INT8"}
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i8": np.int8}
LIBRARY = Path(tosa_reference_model.__file__).with_name("libtosa_reference_verify_lib.so")


def executed(request: Any, arrays: Any) -> Any:
    """The output of a graph, as TOSA's reference model computes it; an empty array if it refuses the graph."""
    serializer = TosaSerializer("")
    inputs = [arrays[name] for name in request["inputs"]]
    kinds = [getattr(DType, TYPES[name]) for name in request["types"]]
    names = [serializer.addPlaceholder(list(x.shape), kind, None).name for x, kind in zip(inputs, kinds, strict=True)]
    for name, shape in request["zeros"]:
        values = np.zeros(shape, DTYPES[name])
        names.append(serializer.addConst(list(shape), getattr(DType, TYPES[name]), values).name)
    output = serializer.addOutput(request["shape"], getattr(DType, TYPES[request["output"]]))
    attribute = TosaSerializerAttribute()
    words = [serializer.builder if x == "builder" else x for x in request["attributes"]]
    words = [getattr(DType, TYPES[x]) if isinstance(x, str) and x in TYPES else x for x in words]
    getattr(attribute, request["attribute"])(*words)
    serializer.addOperator(getattr(Op, request["op"]), names, [output.name], attribute)
    outputs, status = tosa_reference_model.run(bytes(serializer.serialize()), inputs)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        return np.zeros(0, np.uint8)
    return outputs[0].view(np.uint16) if request["output"] == "bf16" else outputs[0]


def accepted(library: VerifierLibrary, check: Any, arrays: Any) -> bool:
    """Whether TOSA's check of dot products accepts an output."""
    actual, wanted, magnitude = (np.ascontiguousarray(arrays[check[x]]) for x in ("actual", "wanted", "magnitude"))
    actual = actual.view("V2") if check["type"] == "bf16" else actual
    tensor = {"mode": "DOT_PRODUCT", "data_type": TYPES[check["type"]], "dot_product_info": check["info"]}
    return bool(
        library.verify_data("output", {"version": "1.0", "tensors": {"output": tensor}}, actual, wanted, magnitude)
    )


def main(folder: Path) -> None:
    """Read the requests, and write what they give."""
    requests = json.loads((folder / "requests.json").read_text())
    arrays = dict(np.load(folder / "arrays.npz"))
    np.savez(folder / "outputs.npz", **{name: executed(x, arrays) for name, x in requests["graphs"].items()})
    library = VerifierLibrary(LIBRARY)
    verdicts = {name: accepted(library, x, arrays) for name, x in requests["checks"].items()}
    (folder / "accepted.json").write_text(json.dumps(verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
