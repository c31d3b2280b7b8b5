"""A drawing of a tensor on a terminal, with lines between the outputs that it is divided into."""

from collections.abc import Iterator

from opconform.model.highlight import Highlight
from opconform.tensors.tensor import Array
from opconform_runners.reports.excerpt import Excerpt, excerpt_of

#: The most outputs whose sizes are listed.
_OUTPUTS = 10


def drawing_of(name: str, array: Array, element_type: str, highlight: Highlight | None) -> list[str]:
    """The lines of a drawing of a tensor's first matrix.

    Args:
        name: The name of the tensor.
        array: Its elements.
        element_type: Its element type.
        highlight: The outputs that the tensor is divided into; None where it is not.
    """
    excerpt = excerpt_of(name, array, element_type, highlight=highlight)
    if not excerpt.rows:
        return [f"(no elements: shape {list(array.shape)})"]
    lines = [f"{name}{excerpt.where}"] if excerpt.where else []
    lines += _rows(excerpt)
    if excerpt.size[0] > len(excerpt.rows):
        lines.append(f" … {excerpt.size[0] - len(excerpt.rows)} more rows")
    if highlight is not None:
        direction = "downwards" if excerpt.along == "rows" else "from left to right"
        sizes = [f"output_{number}: {size}" for number, size in enumerate(highlight.sizes)]
        more = f", … {len(sizes)} in all" if len(sizes) > _OUTPUTS else ""
        lines.append(f"axis {highlight.axis} runs {direction}; outputs: {', '.join(sizes[:_OUTPUTS])}{more}")
    return lines


def _rows(excerpt: Excerpt) -> Iterator[str]:
    width = max(len(each) for row in excerpt.rows for each in row)
    more = " …" if excerpt.size[1] > len(excerpt.rows[0]) else ""
    outputs = excerpt.outputs
    begins = [number == 0 or outputs[number] != outputs[number - 1] for number in range(len(outputs))]
    for number, row in enumerate(excerpt.rows):
        bars = ["│" if excerpt.along == "columns" and column and begins[column] else " " for column in range(len(row))]
        line = "".join(f"{bar}{each:>{width}}" for bar, each in zip(bars, row, strict=True))
        begin = excerpt.along == "rows" and begins[number]
        if begin and number:
            yield "─" * len(line)
        yield f"{line}{more}{f'   output_{outputs[number]}' if begin else ''}"
