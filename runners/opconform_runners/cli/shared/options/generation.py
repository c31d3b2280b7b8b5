"""The options of the generation of suites."""

from collections.abc import Collection
from dataclasses import dataclass

from opconform.generation.options import LIMITS, Limits, Options
from opconform.suite.selection.selection import Selection
from opconform.system.resources import DEFAULT_DIALECTS, DIALECT_NAMES
from opconform_runners.cli.shared.help import rare_option
from opconform_runners.cli.shared.options.general import Decorator, collected, count, jobs_option

#: The help of `--jobs` for commands that generate a suite and run it.
RUN_JOBS = "Processes; by default one per core, and at most 4 to run."


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationOptions:
    """The options that decide how a suite is generated."""

    seed: int
    dialects: tuple[str, ...]
    max_cases: int
    max_elements: int
    max_bytes: int
    jobs: int | None

    def options(self, selection: Selection, *, read: Collection[str] = (), blind: bool = False) -> Options:
        """The options of the generation, in the dialects that a backend reads unless others are named."""
        from opconform.dialects import DIALECTS, check_renderable  # what help does not need takes long to import
        from opconform_runners.harness.environment import cores

        named = tuple(name.replace(":", "-") for name in self.dialects)  # onnx:13 is the dialect onnx-13
        dialects = named or tuple(dialect for dialect in DIALECTS if dialect in read)
        check_renderable(dialects)
        return Options(
            seed=self.seed,
            dialects=tuple(dialect for dialect in DIALECTS if dialect in dialects) or DEFAULT_DIALECTS,
            blind=blind,
            jobs=self.jobs or cores(),
            selection=selection,
            required=named,
            limits=Limits(cases=self.max_cases, elements=self.max_elements, bytes=self.max_bytes),
        )


def _limit_option(name: str, default: int, what: str) -> Decorator:
    return rare_option(name, type=count, default=default, metavar="N", help=f"Maximum {what}.  [default: {default:,}]")


def generation_options(jobs: str) -> Decorator:
    """The options of a generation, collected in the parameter `generation`; `jobs` is the help of `--jobs`."""
    return collected(
        "generation",
        GenerationOptions,
        rare_option("--seed", type=int, default=0, show_default=True, help="Seed for random fills and random cases."),
        rare_option(
            "--dialect",
            "dialects",
            multiple=True,
            metavar="NAME",
            help=f"{', '.join(DIALECT_NAMES)} (repeatable).",
        ),
        _limit_option("--max-cases", LIMITS.cases, "cases per group"),
        _limit_option("--max-elements", LIMITS.elements, "elements per tensor"),
        _limit_option("--max-bytes", LIMITS.bytes, "bytes of the suite"),
        jobs_option(jobs),
    )
