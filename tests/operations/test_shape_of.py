"""ShapeOf-3: the dimensions as numpy has them, in the type that the attribute names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.shape.shape_of import SHAPE_OF

SHAPES = st.lists(st.integers(0, 1 << 33), max_size=5).map(tuple)
MOST = {"i64": (1 << 63) - 1, "i32": (1 << 31) - 1}


@given(shape=SHAPES, output_type=st.sampled_from([*MOST]))
def test_the_output_has_the_dimensions(shape: tuple[int, ...], output_type: str) -> None:
    """Unless one does not fit into the type; the elements of data are not needed."""
    known = Arguments(
        inputs={"data": Operand(element_type="f32", shape=shape)}, attributes={"output_type": output_type}
    )
    if any(size > MOST[output_type] for size in shape):
        with pytest.raises(Rejection) as raised:
            SHAPE_OF.infer(known)
        assert raised.value.requirements == ("output_type.range",)
        return
    [output] = SHAPE_OF.evaluate(known)
    assert [(x.element_type, x.shape) for x in SHAPE_OF.infer(known)] == [(output_type, (len(shape),))]
    assert output.integers() == [*shape]
    assert SHAPE_OF.values(known) == shape
