"""A script for an interpreter with some version of OpenVINO: does it read a suite's narrow constants right?

It prints a JSON object: the version, and for each element type whether the values come out right where the constant is
as a suite holds it, and where it was packed anew.
"""

import json

import numpy as np
import openvino as ov

from opconform.tensors.bit_layouts import OPENVINO_IR, pack
from opconform.tensors.tensor import Tensor
from opconform_products.openvino.runtime import LAYOUTS, repacked

COUNT = 21  # no whole number of bytes in any type
IR = """<net name="constant" version="11"><layers>
<layer id="0" name="c" type="Const" version="opset1">
<data element_type="{name}" shape="{count}" offset="0" size="{size}"/>
<output><port id="0" precision="{precision}"><dim>{count}</dim></port></output></layer>
<layer id="1" name="v" type="Convert" version="opset1"><data destination_type="{wide}"/>
<input><port id="0" precision="{precision}"><dim>{count}</dim></port></input>
<output><port id="1" precision="{wide_precision}"><dim>{count}</dim></port></output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"><dim>{count}</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


def comes_out(name: str, bits: int) -> "list[bool]":
    """Whether OpenVINO's conversion to a wider type gives the values, of the constant as it is and packed anew."""
    values = (np.arange(COUNT) * 7 % (1 << bits)).astype(np.uint8)
    weights = pack(Tensor(element_type=name, array=values), OPENVINO_IR)
    wide = "i8" if name == "i4" else "u8"
    xml = IR.format(
        name=name, count=COUNT, size=len(weights), wide=wide, precision=name.upper(), wide_precision=wide.upper()
    ).encode()
    right = []
    for content in (weights, repacked(xml, weights, LAYOUTS)):
        model = ov.Core().read_model(xml, ov.Tensor(np.frombuffer(content, np.uint8)))
        out = ov.Tensor(getattr(ov.Type, wide), ov.Shape([COUNT]))
        assert model.evaluate([out], [])
        right.append(bool((out.data.astype(np.uint8) % (1 << bits) == values).all()))
    return right


if __name__ == "__main__":
    types = {"u1": 1, "u2": 2, "u3": 3, "u4": 4, "u6": 6, "i4": 4}
    found = {name: comes_out(name, bits) for name, bits in types.items()}
    print(json.dumps({"version": ov.__version__, "types": found}))
