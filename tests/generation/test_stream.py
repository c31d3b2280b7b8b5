"""Streams: batches of cases with their twins, which together are the suite of their specs."""

from pathlib import Path

import pytest

from opconform.errors import UsageError
from opconform.generation.options import Options
from opconform.generation.output.stream import CaseBatch, Stream
from opconform.generation.pipeline import generate
from opconform.specs.group import Spec
from opconform.specs.loader import load_specs
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection, Shard
from opconform.suite.verification import problems_of
from opconform_runners.verdicts.run_header import ids_digest
from tests.conftest import EXHAUSTIVE_SPEC

PROFILE = Selection(profiles=("exhaustive",))


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> list[Spec]:
    """One spec of two groups, whose rejected cases share a few twins."""
    path = tmp_path_factory.mktemp("specs") / "small.yaml"
    path.write_text(EXHAUSTIVE_SPEC)
    return load_specs([path])


def stream_of(specs: list[Spec], shard: Shard | None = None) -> Stream:
    """A stream in batches of about three cases."""
    selection = Selection(profiles=PROFILE.profiles, shard=shard)
    return Stream(specs=specs, options=Options(dialects=(), selection=selection), size=3)


def own_of(batches: list[CaseBatch]) -> list[str]:
    """The ids that are counted with some batches, sorted."""
    return sorted(x for batch in batches for x in batch.own)


def test_the_batches_are_the_suite(specs: list[Spec], tmp_path: Path) -> None:
    """Each case is counted with one batch, and the stream knows the ids of all."""
    stream = stream_of(specs)
    batches = list(stream)
    suite = open_suite(generate(specs, tmp_path / "suite", Options(dialects=(), selection=PROFILE)).out)
    ids = [entry.id for entry in suite.entries]

    assert len(batches) > 3
    assert own_of(batches) == ids
    assert (stream.total, stream.ids, stream.done) == (len(ids), ids_digest(ids), 1.0)


def test_a_twin_is_beside_its_case(specs: list[Spec]) -> None:
    """Even if another batch counts it."""
    for batch in stream_of(specs):
        known = {case.id for case in batch.cases}
        assert len(known) == len(batch.cases)
        assert {case.twin for case in batch.cases if case.twin is not None} <= known


def test_shards_count_each_case_once(specs: list[Spec]) -> None:
    """All of them know how many cases there are in total."""
    streams = [stream_of(specs, Shard(number=number, of=3)) for number in (1, 2, 3)]
    own = [own_of(list(stream)) for stream in streams]
    whole = stream_of(specs)

    assert sorted(name for x in own for name in x) == own_of(list(whole))
    assert {(stream.total, stream.ids, stream.digest) for stream in streams} == {(whole.total, whole.ids, whole.digest)}


def test_a_shard_without_cases_is_an_error(specs: list[Spec]) -> None:
    """As for a suite."""
    empty = next(
        stream
        for stream in (stream_of(specs, Shard(number=number, of=999)) for number in range(1, 999))
        if not any(stream.options.selection.shard.holds(x) for x in own_of(list(stream_of(specs))))  # type: ignore[union-attr]
    )
    with pytest.raises(UsageError, match=r"has no cases\. Use fewer shards\."):
        list(empty)


def test_a_batch_is_a_suite_that_names_the_whole(specs: list[Spec], tmp_path: Path) -> None:
    """Results name the digest of the stream, which depends on what decides its bytes."""
    stream = stream_of(specs)
    stream.write(next(iter(stream)), tmp_path / "batch")
    header = open_suite(tmp_path / "batch").header
    other = Stream(specs=specs, options=Options(dialects=(), seed=1, selection=PROFILE))

    assert list(problems_of(tmp_path / "batch")) == []
    assert header.identity == stream.digest != header.digest
    assert other.digest != stream.digest
