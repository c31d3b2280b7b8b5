"""The options that name a cluster to work on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import click

from opconform.errors import UsageError
from opconform.system.tasks import Workers
from opconform_runners.cli.shared.help import rare_option
from opconform_runners.cli.shared.options.backends import positive
from opconform_runners.cli.shared.options.general import Decorator, collected


class Executors(NamedTuple):
    """What generates cases and what runs them; None for processes of this machine."""

    generation: Workers | None = None
    runs: Workers | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterOptions:
    """The options that name a cluster, and what its workers need to run a case."""

    url: str | None = None
    resources: Mapping[str, float] | None = None

    def executors(self, jobs: int | None) -> Executors:
        """The executors, which are connected until the command ends."""
        if self.url is None:
            if self.resources:
                raise UsageError("--resources works only with --executor dask://HOST:PORT.")
            return Executors()
        if jobs is not None:
            raise UsageError("--jobs and --executor cannot be used together: the workers of a cluster are the jobs.")
        from opconform_runners.execution.scale.cluster import connected

        cluster = click.get_current_context().with_resource(connected(self.url))
        return Executors(cluster, cluster.having(self.resources or {}))


def _resources(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> Mapping[str, float]:
    """The numbers by name."""
    resources = {}
    for value in values:
        name, equals, number = value.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{value!r} must have the form NAME=N, as in NPU=1.")
        resources[name] = positive(number)
    return resources


_executor_option = rare_option(
    "--executor", "url", metavar="URL", help="Work on a dask cluster, as in dask://HOST:8786."
)
#: Adds `--executor`, for commands that only generate.
executor_option: Decorator = collected("cluster", ClusterOptions, _executor_option)
#: Adds `--executor` and `--resources`, collected in the parameter `cluster`.
cluster_options: Decorator = collected(
    "cluster",
    ClusterOptions,
    _executor_option,
    rare_option(
        "--resources",
        multiple=True,
        metavar="NAME=N",
        callback=_resources,
        help="What each harness reserves of a worker, as in NPU=1.",
    ),
)
