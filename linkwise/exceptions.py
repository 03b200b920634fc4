"""What can go wrong, and what each error carries.

::

    ValueError
    └── LinkwiseError                    everything this library raises on purpose about knowledge or results
        ├── InvalidArgumentError         arguments of `cluster` that are unknown or do not go together
        ├── ConstraintError              a statement that makes no sense on its own (out of range, self-contradictory)
        ├── InfeasibleConstraintsError   statements that cannot hold together      .explanation
        ├── UnsupportedConstraintError   kinds or rules a method does not know     .kinds
        ├── GaveUpError                  nothing was found, nothing was disproved .statements
        ├── DeadEndError                 the merges ended before the wanted cut    .dendrogram  .k_min
        ├── ViolationError               a result failed the independent check     .certificate
        ├── MemoryLimitError             an allocation that cannot fit, refused    .needed  .available
        ├── DatasetNotFoundError         a data set that is not on this machine    .name  .ways
        └── DamagedDatasetError          a data file that is not what it should be .path

    UserWarning
    └── LinkwiseWarning                  input accepted, but something was left out or repaired

Messages read: who, what is the case, what was expected; then a hint one can type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwise.problem import Explanation
    from linkwise.result import Certificate, Dendrogram


class LinkwiseError(ValueError):
    """Base of every error linkwise raises on purpose; a ``ValueError``, so existing handlers keep working."""


class LinkwiseWarning(UserWarning):
    """Input was accepted, but part of it was dropped, repaired or looks like a mistake."""


class InvalidArgumentError(LinkwiseError):
    """Arguments of `linkwise.cluster` are unknown, have wrong values, or do not go together."""


class ConstraintError(LinkwiseError):
    """A statement is malformed: it names a sample that does not exist, or contradicts itself."""


class InfeasibleConstraintsError(LinkwiseError):
    """Statements contradict each other; ``explanation`` names the few at fault."""

    def __init__(self, message: str, explanation: Explanation | None = None) -> None:
        super().__init__(message)
        self.explanation = explanation


class UnsupportedConstraintError(LinkwiseError):
    """A method was given kinds of knowledge it does not understand; ``kinds`` names them."""

    def __init__(self, message: str, kinds: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.kinds = kinds


class GaveUpError(LinkwiseError):
    """A search ended without an answer and without a proof that there is none.

    ``statements`` are the positions of those it got stuck on, where it can tell.
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
    """An engine returned a result that breaks a hard statement: a bug in linkwise, never silently passed on."""

    def __init__(self, message: str, certificate: Certificate | None = None) -> None:
        super().__init__(message)
        self.certificate = certificate


class MemoryLimitError(LinkwiseError, MemoryError):
    """A request needs more memory than there is; refused before allocating. Sizes are in bytes."""

    def __init__(self, message: str, needed: int = 0, available: int = 0) -> None:
        super().__init__(message)
        self.needed = needed
        self.available = available


class DatasetNotFoundError(LinkwiseError, LookupError):
    """A data set could not be found; ``ways`` lists what one can do to get it."""

    def __init__(self, message: str, name: str = "", ways: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.ways = ways


class DamagedDatasetError(LinkwiseError):
    """A data file exists but cannot be what it should be: cut short, altered or of another shape."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path
