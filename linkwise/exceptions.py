"""Exceptions and the warning of linkwise, and the fields that each carries.

::

    ValueError
    └── LinkwiseError                    every error about constraints or results that is raised on purpose
        ├── InvalidArgumentError         arguments of `cluster` that are unknown or do not go together
        ├── ConstraintError              a malformed statement (out of range, self-contradictory)
        ├── InfeasibleConstraintsError   statements that cannot hold together      .explanation
        ├── UnsupportedConstraintError   kinds or rules a method does not support  .kinds
        ├── GaveUpError                  a search without an answer or a proof      .statements
        ├── DeadEndError                 merging ended before the requested cut    .dendrogram  .k_min
        ├── ViolationError               a result failed the independent check     .certificate
        ├── MemoryLimitError             an allocation that cannot fit             .needed  .available
        ├── ScaleError                   files or workers that a run over blocks cannot use  .block  .worker
        ├── DatasetNotFoundError         a data set that is not on this machine    .name  .ways
        └── DamagedDatasetError          a damaged data file                       .path

    UserWarning
    └── LinkwiseWarning                  input accepted, but part of it was dropped or repaired

A message names the function, the problem and the expected input, and ends with a hint that can be typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linkwise.problem import Explanation
    from linkwise.result import Certificate, Dendrogram


class LinkwiseError(ValueError):
    """Base of all errors of linkwise; a ``ValueError``, so existing handlers keep working."""


class LinkwiseWarning(UserWarning):
    """Input was accepted, but part of it was dropped, repaired or looks like a mistake."""


class InvalidArgumentError(LinkwiseError):
    """Arguments of `linkwise.cluster` are unknown, have wrong values, or do not go together."""


class ConstraintError(LinkwiseError):
    """A statement is malformed: it names a sample that does not exist, or contradicts itself."""


class InfeasibleConstraintsError(LinkwiseError):
    """Statements contradict each other; ``explanation`` names the conflicting ones."""

    def __init__(self, message: str, explanation: Explanation | None = None) -> None:
        super().__init__(message)
        self.explanation = explanation


class UnsupportedConstraintError(LinkwiseError):
    """Constraints hold kinds of statements or rules that a method does not understand; ``kinds`` names them."""

    def __init__(self, message: str, kinds: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.kinds = kinds

    @classmethod
    def of(
        cls,
        who: str,
        kinds: Iterable[str],
        understood: Iterable[str] = (),
        hint: str = "leave the others out with `constraints.select(...)`, or use a method that knows them.",
    ) -> Self:
        """Name the method, the kinds it does not understand, and the kinds it does."""
        foreign, known = tuple(kinds), ", ".join(understood)
        known = f"; it understands {known}" if known else ""
        return cls(f"{who} does not understand {' and '.join(foreign)}{known}.\nHint: {hint}", foreign)


class GaveUpError(LinkwiseError):
    """A search ended without an answer and without a proof that there is none.

    ``statements`` are the positions of the statements it could not satisfy, if they are known.
    """

    def __init__(self, message: str, statements: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.statements = statements


class DeadEndError(LinkwiseError):
    """No legal merge was left before the requested number of clusters; ``dendrogram`` holds the forest so far."""

    def __init__(self, message: str, dendrogram: Dendrogram | None = None, k_min: int | None = None) -> None:
        super().__init__(message)
        self.dendrogram = dendrogram
        self.k_min = k_min


class ViolationError(LinkwiseError):
    """An engine returned a result that breaks a hard statement: a bug in linkwise."""

    def __init__(self, message: str, certificate: Certificate | None = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class MemoryLimitError(LinkwiseError, MemoryError):
    """A request needs more memory than is available, and was refused before allocating. Sizes are in bytes."""

    def __init__(self, message: str, needed: int = 0, available: int = 0) -> None:
        super().__init__(message)
        self.needed = needed
        self.available = available


class ScaleError(LinkwiseError):
    """A run over blocks of rows met a file, a block or a worker that it cannot use.

    ``block`` is the number of the block and ``worker`` the address of the worker, where one is at fault.
    """

    def __init__(self, message: str, block: int | None = None, worker: str = "") -> None:
        super().__init__(message)
        self.block = block
        self.worker = worker

    def __reduce__(self) -> tuple[type[ScaleError], tuple[str, int | None, str]]:
        return type(self), (str(self), self.block, self.worker)


class DatasetNotFoundError(LinkwiseError, LookupError):
    """A data set could not be found; ``ways`` lists ways to get it."""

    def __init__(self, message: str, name: str = "", ways: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.ways = ways


class DamagedDatasetError(LinkwiseError):
    """A data file is truncated, altered or of another shape than expected."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path
