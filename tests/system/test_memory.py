"""Memory: the collection of garbage while specs are loaded."""

import gc

import pytest

from opconform.system.memory import without_collection


def test_garbage_is_collected_again_whatever_happens() -> None:
    """Also where a spec is wrong."""
    with pytest.raises(ValueError, match="invalid literal"), without_collection():
        int("wrong")
    assert gc.isenabled()


def test_collection_stays_off_where_it_was_off() -> None:
    """A program may have switched it off."""
    gc.disable()
    try:
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
