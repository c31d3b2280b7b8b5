"""Graphs that `torch.compile` compiles with inductor, which writes C++ and calls a compiler."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._functorch.config
import torch._inductor.config
import torch._inductor.exc

from opconform.errors import UsageError
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.exceptions import short_message

#: How many cases one function computes. The C++ compiler takes as long for the loops of many cases as for those of one.
PACKS = 64


def prepare_inductor() -> None:
    """Compile a first function, so that no case pays for what PyTorch asks of the compiler and the processor once.

    Raises `UsageError` if there is no C++ compiler that works.
    """
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), "g++", "clang++")):
        raise UsageError("torch:inductor needs a C++ compiler, and none was found. Install g++, or name one in CXX.")
    # What was compiled in another process would hide a fault of this one, and the folder of a harness goes with it.
    folder = tempfile.mkdtemp(prefix="inductor-", dir=os.environ.get("OPCONFORM_HARNESS"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    options: Any = torch._inductor.config
    options.compile_threads = 1  # others are processes, each of which imports PyTorch
    options.fx_graph_cache = False
    options.cpp_cache_precompile_headers = False
    torch._functorch.config.enable_autograd_cache = False
    try:
        torch.compile(lambda data: data + 1)(torch.zeros(4))
    except RuntimeError as error:
        raise UsageError(f"torch:inductor cannot compile anything here: {short_message(error)}") from error


def compiled(
    functions: Sequence[Callable[..., list[Any]]], *, is_dynamic: bool
) -> Callable[[Sequence[Any]], list[list[Any]]]:
    """A compiled function that computes several functions, given the named tensors of each.

    A failure to compile is no lack of an operation, which PyTorch has without inductor.
    """

    def graph(feeds: Sequence[Any]) -> list[list[Any]]:
        return [function(feed) for function, feed in zip(functions, feeds, strict=True)]

    torch.compiler.reset()
    call = torch.compile(graph, dynamic=is_dynamic)

    def translated(feeds: Sequence[Any]) -> list[list[Any]]:
        try:
            outputs: list[list[Any]] = call(feeds)
        except torch._inductor.exc.InductorError as error:
            raise Rejected("run", short_message(f"{type(error).__name__}: {error}")) from error
        # They take as long as two functions: too long for a process that a single case is executed in again.
        torch._inductor.config.cpp_cache_precompile_headers = True
        return outputs

    return translated
