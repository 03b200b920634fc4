"""One cell of a study: which engine, on what, told how much, with which chance; known by its content."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError
from studies.experiments._drawn_statements import KINDS

FIELDS = ("engine", "params", "data", "data_params", "prepare", "knowledge", "amount", "noise", "seed")
PREPARATIONS = ("raw", "standard")


@dataclass(frozen=True)
class Cell:
    """One thing to compute: an engine on a data set with some knowledge and one seed.

    Attributes
    ----------
    engine : str
        A name of `linkwise.engines`, such as ``"ConstrainedAgglomerative"``, or ``"module:name"`` of any estimator, or
        of a function ``f(X, *, constraints, n_clusters, random_state, ...)`` that returns labels or a `Dendrogram`.
    data : str
        A generator of `linkwise.datasets`, such as ``"circles"``, a name that `linkwise.datasets.load` knows, or
        ``"module:name"`` of a function that returns a `Data`.
    knowledge : str, default="pairs"
        What kind of statements the classes or the taxonomy are turned into: ``"none"``, ``"must_link"``,
        ``"cannot_link"``, ``"pairs"``, ``"triplets"``, ``"informative"``, ``"taxonomy"`` or ``"labels"``, as in
        `knowledge`.
    amount : int, default=0
        How many statements; for ``"labels"`` how many labeled samples.
    noise : float, default=0.0
        Share of the statements that are made wrong.
    seed : int, default=0
        Where chance comes from: the points of a generator, the statements, the engine.
    params : mapping or sequence of pairs
        Parameters of the engine. Unless given here, ``n_clusters`` is the number of classes and ``random_state``
        follows the seed.
    data_params : mapping or sequence of pairs
        Parameters of the generator.
    prepare : {"raw", "standard"}, default="raw"
        ``"standard"`` fills gaps with the mean and brings every column to mean 0 and variance 1; sparse rows are
        brought to length 1 instead.

    Notes
    -----
    **Guarantee** cells of the same content have the same `key`, whatever process, day or order they are made in. Cells
    that differ only in their engine get the same samples and the same statements.

    Examples
    --------
    >>> from studies.experiments import Cell
    >>> cell = Cell("ConstrainedAgglomerative", "iris", amount=20, params={"linkage": "average"})
    >>> cell.label
    'ConstrainedAgglomerative(linkage=average)'
    >>> cell.key() == Cell("ConstrainedAgglomerative", "iris", amount=20, params={"linkage": "average"}).key()
    True
    """

    engine: str
    data: str
    knowledge: str = "pairs"
    amount: int = 0
    noise: float = 0.0
    seed: int = 0
    params: Any = ()
    data_params: Any = ()
    prepare: str = "raw"

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("engine", "data"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                _refuse(name, getattr(self, name), "a name")
        put(self, "amount", _whole("amount", self.amount))
        put(self, "seed", _whole("seed", self.seed))
        noise = _plain(self.noise)
        if isinstance(noise, bool) or not isinstance(noise, (int, float)) or not 0 <= noise <= 1:
            _refuse("noise", self.noise, "a share between 0 and 1")
        put(self, "noise", float(noise))
        if self.knowledge not in KINDS:
            _refuse("knowledge", self.knowledge, f"one of {', '.join(KINDS)}")
        if self.prepare not in PREPARATIONS:
            _refuse("prepare", self.prepare, f"one of {', '.join(PREPARATIONS)}")
        put(self, "params", _pairs("params", self.params))
        put(self, "data_params", _pairs("data_params", self.data_params))

    @property
    def label(self) -> str:
        """The engine and its parameters, as a legend shows them."""
        name = self.engine.rpartition(":")[2]
        inside = ", ".join(f"{key}={value}" for key, value in self.params)
        return f"{name}({inside})" if inside else name

    def fields(self) -> dict[str, Any]:
        """What the cell is, as plain values; parameters are mappings."""
        held = asdict(self)
        held["params"], held["data_params"] = dict(self.params), dict(self.data_params)
        return {name: held[name] for name in FIELDS}

    def key(self, **context: Any) -> str:
        """Name the cell by its content and the context it is computed in, as 64 hexadecimal digits."""
        content = canonical({"cell": self.fields(), "context": context})
        return hashlib.sha256(content.encode()).hexdigest()


def grid(
    *,
    engine: str | tuple[str, Mapping[str, Any]] | Iterable[str | tuple[str, Mapping[str, Any]]],
    data: str | Iterable[str],
    **axes: Any,
) -> list[Cell]:
    """Cross all values of all fields: one cell for each combination.

    Parameters
    ----------
    engine : str, (str, mapping), or several of these
        Engines, each a name or a name with parameters.
    data : str or several
        Data sets.
    **axes
        Values for the other fields of `Cell`, one or several each.

    Returns
    -------
    list of Cell

    Examples
    --------
    >>> from studies.experiments import grid
    >>> engines = ["sklearn.cluster:KMeans", ("ConstrainedAgglomerative", {"linkage": "average"})]
    >>> cells = grid(engine=engines, data=["iris", "circles"], amount=[0, 20, 40], seed=range(5))
    >>> len(cells), cells[-1].label
    (60, 'ConstrainedAgglomerative(linkage=average)')
    """
    engines = [engine] if isinstance(engine, (str, tuple)) else list(engine)
    named = [(one, {}) if isinstance(one, str) else one for one in engines]
    unknown = set(axes) - set(FIELDS) | (set(axes) & {"params"})
    if unknown:
        msg = (
            f"grid does not know {', '.join(sorted(unknown))}; a cell has {', '.join(FIELDS)}.\n"
            "Hint: parameters of an engine stand beside its name, engine=('ReCon', {'n_clusters': 3})."
        )
        raise LinkwiseError(msg)
    values = {name: _several(value) for name, value in {"data": data, **axes}.items()}
    return [
        Cell(engine=name, params=params, **dict(zip(values, chosen, strict=True)))
        for *chosen, (name, params) in itertools.product(*values.values(), named)
    ]


def canonical(value: Any) -> str:
    """Write a value as JSON in the one way it can be written."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _several(value: Any) -> list[Any]:
    single = isinstance(value, (str, Mapping)) or not isinstance(value, (Iterable, np.ndarray))
    return [value] if single else list(value)


def _refuse(name: str, value: object, wanted: str) -> None:
    msg = f"a cell's {name} is {value!r}, expected {wanted}."
    raise LinkwiseError(msg)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _whole(name: str, value: Any) -> int:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int) or plain < 0:
        _refuse(name, value, "a whole number >= 0")
    return int(plain)


def _pairs(name: str, given: Any) -> tuple[tuple[str, Any], ...]:
    """Sort parameters by name and check that JSON can hold them, for their content names the cell."""
    items: Sequence[Any] = list(given.items()) if isinstance(given, Mapping) else list(given)
    try:
        held = {key: _plain(value) for key, value in items}
        if not all(isinstance(key, str) for key in held):
            _refuse(name, given, "names as keys")
        same = json.loads(canonical(held))
    except (TypeError, ValueError):
        msg = f"a cell's {name} is {given!r}, expected plain numbers, words, lists and mappings of these."
        raise LinkwiseError(msg) from None
    return tuple((key, _frozen(same[key])) for key in sorted(same))


def _frozen(value: Any) -> Any:
    """Lists as tuples, so that a cell can be hashed; JSON writes both alike."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
