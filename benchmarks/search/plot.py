"""The time to the first failure of each row: `python -m benchmarks.search.plot docs/fuzzing.png FILE.jsonl...`."""

import json
from pathlib import Path

import click
from matplotlib.figure import Figure

#: Inches, and dots per inch.
_SIZE, _DPI = (8, 5), 120


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def command(out: Path, files: tuple[Path, ...]) -> None:
    """Draw what `benchmarks.search.measure` wrote, one series per file, whose name is that of the operation."""
    series = {file.stem: [json.loads(line) for line in file.read_text().splitlines()] for file in files}
    first: dict[int, float] = {}
    for points in (x for some in series.values() for x in some):
        first[points["row"]] = min(points["seconds"], first.get(points["row"], points["seconds"]))
    order = sorted(first, key=lambda row: first[row])
    figure = Figure(figsize=_SIZE, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    for marker, (name, some) in zip("os^vD", series.items(), strict=False):
        axes.plot([x["seconds"] for x in some], [order.index(x["row"]) for x in some], marker, label=name)
    axes.set_xscale("log")
    axes.set_yticks(range(len(order)), [str(row) for row in order])
    axes.set_xlabel("seconds until the first failure")
    axes.set_ylabel("row of runners/opconform_products/openvino/findings/openvino-2026.4.yaml")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(out)


if __name__ == "__main__":
    command()
