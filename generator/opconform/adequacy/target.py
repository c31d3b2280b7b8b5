"""What adequacy mutates: a program that decides the results of operations, and the cases that should notice."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from opconform.adequacy.modules import Program
from opconform.adequacy.reach import PartPlace, Root
from opconform.model.draft import Draft


class MutantTrial(Protocol):
    """A case, or a part of it, with the result of the program in use."""

    @property
    def op(self) -> str:
        """The operation under test."""


T = TypeVar("T", bound=MutantTrial)


class MutatedProgram(Protocol[T]):
    """A program that implements operations."""

    @property
    def program(self) -> Program:
        """Its modules."""

    def roots(self) -> Mapping[str, Iterable[Root]]:
        """From where the parts that decide results are reached, by operation."""

    def users(self) -> Mapping[PartPlace, frozenset[str]]:
        """The operations that reach each part of its modules, of all that have specs."""

    def shown(self, module: str) -> str:
        """The name of a module in reports and in `equivalents.yaml`."""

    def trials(self, cases: Sequence[Draft]) -> list[T]:
        """The trials of some cases."""

    def killers(self, module: str, tree: ast.Module, trials: Sequence[T]) -> Iterator[int]:
        """The indices of the trials that have another result if a module is changed, each once it is known.

        A mutant that cannot be loaded is detected by every trial, and one that fails by the trial in which it fails.
        """
