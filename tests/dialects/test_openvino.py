"""The dialect openvino: the pages' own examples."""

import re
from pathlib import Path

import pytest

EXAMPLES = {
    "Split-1/page-example": (
        '<layer id="1" type="Split"><data num_splits="3"/>'
        '<input><port id="0"><dim>6</dim><dim>12</dim><dim>10</dim><dim>24</dim></port><port id="1"></port></input>'
        '<output><port id="2"><dim>6</dim><dim>4</dim><dim>10</dim><dim>24</dim></port>'
        '<port id="3"><dim>6</dim><dim>4</dim><dim>10</dim><dim>24</dim></port>'
        '<port id="4"><dim>6</dim><dim>4</dim><dim>10</dim><dim>24</dim></port></output></layer>'
    ),
    "VariadicSplit-1/page-example-lengths": (
        '<layer id="1" type="VariadicSplit">'
        '<input><port id="0"><dim>6</dim><dim>12</dim><dim>10</dim><dim>24</dim></port><port id="1"></port>'
        '<port id="2"><dim>3</dim></port></input>'
        '<output><port id="3"><dim>1</dim><dim>12</dim><dim>10</dim><dim>24</dim></port>'
        '<port id="4"><dim>2</dim><dim>12</dim><dim>10</dim><dim>24</dim></port>'
        '<port id="5"><dim>3</dim><dim>12</dim><dim>10</dim><dim>24</dim></port></output></layer>'
    ),
    "VariadicSplit-1/page-example-remainder": (
        '<layer id="1" type="VariadicSplit">'
        '<input><port id="0"><dim>6</dim><dim>12</dim><dim>10</dim><dim>24</dim></port><port id="1"></port>'
        '<port id="2"><dim>2</dim></port></input>'
        '<output><port id="3"><dim>4</dim><dim>12</dim><dim>10</dim><dim>24</dim></port>'
        '<port id="4"><dim>2</dim><dim>12</dim><dim>10</dim><dim>24</dim></port></output></layer>'
    ),
}


@pytest.mark.parametrize("group", EXAMPLES)
def test_the_pages_examples_come_out_as_the_pages_print_them(few_core: Path, group: str) -> None:
    """White space apart, `layer.xml` is the page's example; the page's `...` stands for what it leaves out."""
    [layer] = (few_core / group).glob("*/openvino/layer.xml")

    assert re.sub(r">\s+<", "><", layer.read_text().strip()) == EXAMPLES[group]


def test_an_empty_constant_has_one_byte(few_core: Path) -> None:
    """As in the files that OpenVINO writes: its reader does not take weights of no bytes."""
    weights = {path.read_bytes() for path in (few_core / "Transpose-1" / "scalar").glob("*/openvino/model.bin")}

    assert weights == {b"\0"}
