"""A case as text: one line per input, and drawings of its tensors with lines between the outputs."""

from collections.abc import Iterator, Mapping, Sequence

from opconform.errors import counted
from opconform.explanation.pictures import Highlight, highlight_of
from opconform.explanation.specification import requirement_texts
from opconform.suite.case import Case, Comparison, Output
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.feeds import FeedArrays, likely_cause, origin_line, origin_of_mismatch
from opconform_runners.reports.terminal.excerpt import Excerpt, excerpt_of, pairs_of
from opconform_runners.reports.terminal.incidents import incident_lines
from opconform_runners.verdicts.description import computed_inputs, has_shown_values, values_text
from opconform_runners.verdicts.results import Result

#: The most outputs whose sizes are listed, and the most values of an input.
_OUTPUTS = 10
_VALUES = 12
_COMPARISONS: Mapping[Comparison, str] = {"bits": "", "numbers": " (any NaN for a NaN)", "bounds": " (within bounds)"}


def input_lines(case: Case, arrays: Mapping[str, Array]) -> list[str]:
    """The inputs and attributes of a case, one per line; values are shown where the array is given."""
    lines = []
    for input_ in case.inputs:
        values, declared = "", ""
        if input_.name in arrays and has_shown_values(case, input_):
            values = f" = {values_text(Tensor(element_type=input_.element_type, array=arrays[input_.name]), _VALUES)}"
        if input_.dynamic is not None:
            shape = input_.dynamic if isinstance(input_.dynamic, str) else f"[{', '.join(map(str, input_.dynamic))}]"
            declared = f", declared {shape}"
        lines.append(f"{input_.name}: {input_.element_type}{list(input_.shape)}, {input_.binding}{declared}{values}")
    lines += [f"computed: {computed_input}" for computed_input in computed_inputs(case)]
    return lines + [f"{name}: {value!r}" for name, value in case.attributes.items()]


def change_lines(case: Case, first: Mapping[str, Array], later: Mapping[str, Array]) -> list[str]:
    """The inputs of a later inference that differ from the first inference, with values or a drawing."""
    lines = []
    for input_ in case.inputs:
        array = later[input_.name]
        if array.shape == first[input_.name].shape and array.tobytes() == first[input_.name].tobytes():
            continue
        is_setting = input_.role == "setting"
        text = values_text(Tensor(element_type=input_.element_type, array=array), _VALUES)
        lines.append(f"{input_.name}: {input_.element_type}{list(array.shape)}{f' = {text}' if is_setting else ''}")
        if not is_setting:
            lines += [f"  {line}" for line in _drawing(excerpt_of(input_.name, array, input_.element_type), None)]
    return lines or ["(nothing)"]


def output_text(output: Output) -> str:
    """The element type and shape of an expected output, and how its elements are compared if not bit by bit."""
    return f"{output.element_type}{list(output.shape)}{_COMPARISONS[output.comparison]}"


def seen_link(seen: str) -> str:
    """The URL of a public report; the tracker redirects an issue's number to a pull request."""
    repository, _, number = seen.partition("#")
    return f"https://github.com/{repository}/issues/{number}" if number else f"https://www.cve.org/CVERecord?id={seen}"


def drawing_lines(case: Case, arrays: Mapping[str, Array]) -> list[str]:
    """The drawings of a case's data inputs, with the regions that are outputs, or with the regions of the output."""
    highlight = highlight_of(case, arrays)
    lines: list[str] = []
    tensors = [input_ for input_ in case.inputs if input_.role == "data"]
    for tensor in tensors:
        divided = highlight if highlight is not None and highlight.tensor == tensor.name else None
        excerpt = excerpt_of(tensor.name, arrays[tensor.name], tensor.element_type, highlight=divided)
        lines += [f"{tensor.name}:"] if len(tensors) > 1 and not excerpt.where else []
        lines += _drawing(excerpt, divided)
    if highlight is not None and highlight.tensor not in arrays:
        lines.append(f"{highlight.tensor} along axis {highlight.axis}: {_sizes(highlight)}")
    return lines or ["(no tensor to draw)"]


def returned_lines(case: Case, result: Result, backend: str, feeds: Sequence[FeedArrays]) -> Iterator[str]:
    """The verdict on a case, the likely cause of a failure, and the outputs of the feed at fault, which comes first."""
    kind = f" ({result.reason})" if result.reason else ""
    error = f"; largest error: {result.error:.2g} of its bound" if result.verdict == "pass" and result.error else ""
    yield f"{backend}: {result.verdict}{kind}{f': {result.sentence}' if result.sentence else ''}{error}"
    yield from (f"incident: {incident_line}" for incident_line in incident_lines(result.incidents))
    texts = requirement_texts(case.op)
    for name in result.broken:
        yield f"breaks {name}{f': {texts[name]}' if name in texts else ''}"
    feed = next(iter(feeds), None)
    if feed is None or not feed.actual:
        return
    where = f" in inference {feed.number + 1}" if case.feeds > 1 else ""
    if cause := likely_cause(case, result, feed):
        yield f"likely cause: {cause}"
    if origin := origin_line(result.mismatch, origin_of_mismatch(case, feed, result.mismatch)):
        yield f"{origin}{where}"
    for expected, actual in pairs_of(case, feed, result.mismatch):
        for heading, excerpt in (("expected", expected), ("returned", actual)):
            if excerpt is not None:
                mark = f", * {excerpt.mark}" if excerpt.marked else ""
                yield f"{heading} {excerpt.name}{where}: {excerpt.kind}{mark}"
                yield from (f"  {line}" for line in _drawing(excerpt, None))


def _drawing(excerpt: Excerpt, highlight: Highlight | None) -> Iterator[str]:
    if not excerpt.rows:
        yield f"({excerpt.name} has no elements)"
        return
    if excerpt.where:
        yield f"{excerpt.name}{excerpt.where}"
    yield from _rows(excerpt)
    if excerpt.size[0] > len(excerpt.rows):
        yield f" … {counted(excerpt.size[0] - len(excerpt.rows), 'more row')}"
    if highlight is not None:
        direction = "downwards" if excerpt.along == "rows" else "from left to right"
        yield f"axis {highlight.axis} runs {direction}; outputs: {_sizes(highlight)}"


def _sizes(highlight: Highlight) -> str:
    sizes = [f"{name}: {size}" for name, size in zip(highlight.names, highlight.sizes, strict=True)]
    return ", ".join(sizes[:_OUTPUTS]) + (f", … {len(sizes)} in all" if len(sizes) > _OUTPUTS else "")


def _rows(excerpt: Excerpt) -> Iterator[str]:
    marked = {(row, column) for row, column, _ in excerpt.marked}
    rows = [
        [f"*{cell}" if (y, x) in marked else cell for x, cell in enumerate(row)] for y, row in enumerate(excerpt.rows)
    ]
    width = max(len(cell) for row in rows for cell in row)
    more = " …" if excerpt.size[1] > len(excerpt.rows[0]) else ""
    outputs = excerpt.outputs
    begins = [number == 0 or outputs[number] != outputs[number - 1] for number in range(len(outputs))]
    for number, row in enumerate(rows):
        bars = ["│" if excerpt.along == "columns" and column and begins[column] else " " for column in range(len(row))]
        line = "".join(f"{bar}{cell:>{width}}" for bar, cell in zip(bars, row, strict=True))
        begin = excerpt.along == "rows" and begins[number]
        if begin and number:
            yield "─" * len(line)
        yield f"{line}{more}{f'   {outputs[number]}' if begin else ''}"
