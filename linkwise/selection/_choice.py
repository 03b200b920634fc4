"""The choice of a method for `cluster`: the task, the estimator with its reason, and the memory that it will take."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise import _memory
from linkwise._compat import InvalidParameterError
from linkwise._messages import hint
from linkwise._validation import is_whole
from linkwise.constraints import CHOICES, LINKS, Constraints, Kind, SizeBetween
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, linkage_code, plan_memory
from linkwise.engines.consensus import Consensus
from linkwise.engines.hierarchical import (
    MOST_CLUSTERS,
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    HierarchyMixin,
    ReCon,
    SparseAgglomerative,
)
from linkwise.engines.partitional import COPKMeans, PCKMeans
from linkwise.exceptions import InvalidArgumentError, LinkwiseError
from linkwise.selection._methods import LINKAGES, METHODS, load_method

logger = logging.getLogger("linkwise.selection")

# Arguments of `cluster` that `params` may not hold as well, and the options of the command for them.
_OWN_ARGUMENTS = {"n_clusters": "-k", "linkage": "--linkage", "distance_threshold": "--height"}


# Samples from which on many views are compared: with fewer, a view has nothing to learn a metric or a mixture from.
FEWEST_SAMPLES = 50
# Clusters up to which views vote on some of many samples: a vote on 3,000 needs some ten samples of each.
MOST_VOTED = 300
COMPARED = 3_000  # samples that take part in a vote
# Clusters up to which those of a tree are compared with k-means, whose steps take time for each of them.
MOST_REFINED = 1_000


@dataclass(frozen=True)
class Task:
    """The arguments of `cluster`, read: samples and constraints, the number of clusters, and the wishes for a method.

    ``method`` is the class asked for, or None; ``metric`` is never None. ``between`` are the fewest and the most
    clusters where a range of numbers was given; ``n_clusters`` is None then.
    """

    n: int
    known: Constraints
    n_clusters: int | None
    metric: Any
    sparse: bool
    random_state: Any = 0
    min_cluster_size: int | str | None = "auto"
    method: Any = None
    linkage: str | None = None
    distance_threshold: float | None = None
    params: Mapping[str, Any] | None = None
    effort: str = "full"
    between: tuple[int, int] | None = None

    @property
    def compares_views(self) -> bool:
        """Whether many views of the data are to be compared."""
        usual = self.metric == ("cosine" if self.sparse else "euclidean")
        asked = self.n_clusters is not None and not self.needs_tree and self.min_cluster_size in ("auto", None)
        wanted = self.effort == "full" and usual and asked and not self.known.rules and self.n >= FEWEST_SAMPLES
        return wanted and not self._has_levels and not self.says(*CHOICES)

    @property
    def _has_levels(self) -> bool:
        """Whether triplets are about several levels of a hierarchy: two samples together in one, apart in another."""
        trio = self.known.of(Kind.TRIPLET)
        together = np.sort(trio[:, :2], axis=1) @ [self.n, 1]
        apart = np.sort(np.concatenate([trio[:, [0, 2]], trio[:, [1, 2]]]), axis=1) @ [self.n, 1]
        return bool(np.isin(together, apart).any())

    @property
    def is_plain(self) -> bool:
        """Whether samples are dense vectors, which have centers."""
        return bool(self.metric == "euclidean") and not self.sparse

    @property
    def is_large(self) -> bool:
        """Whether a matrix of all distances is too large to hold unasked."""
        return self.n > _memory.MATRIX

    @property
    def merges_sparsely(self) -> bool:
        """Whether merging along nearest neighbors suits: many plain vectors, no linkage asked for, no rules."""
        return self.is_large and self._suits_merging

    @property
    def _suits_merging(self) -> bool:
        named = len(np.unique(self.known.of(Kind.TRIPLET)))
        fits = named <= MOST_CLUSTERS and (not named or self.distance_threshold is None)
        return self.is_plain and self.linkage is None and not self.known.rules and fits

    @property
    def divides_sparsely(self) -> bool:
        """Whether many samples or clusters are asked for by number, under hard pairs and groups, or none."""
        if self.n_clusters is None or not is_whole(self.n_clusters) or self.effort != "full" or self.method is not None:
            return False
        known = self.known.is_hard.all() and not self.says(*CHOICES, Kind.TRIPLET)
        crowded = self.n_clusters > MOST_VOTED and self.n > COMPARED
        return bool(known and self._suits_merging and (self.is_large or crowded))

    @property
    def bounds_sizes(self) -> bool:
        """Whether a rule bounds the sizes of clusters."""
        return any(isinstance(rule, SizeBetween) for rule in self.known.rules)

    @property
    def needs_tree(self) -> bool:
        """Whether the arguments are about a tree."""
        return self.linkage is not None or self.distance_threshold is not None

    def accepts(self, n_clusters: int) -> bool:
        """Whether a number of clusters lies in the range asked for, if there is one."""
        return self.between is None or self.between[0] <= n_clusters <= self.between[1]

    def says(self, *kinds: Kind) -> bool:
        """Whether there are statements of these kinds."""
        return bool(np.isin(self.known.kind, kinds).any())


# -- which arguments go together ---------------------------------------------------------------------------------------


def require_arguments(task: Task) -> None:
    """Refuse arguments that the method asked for does not have, before anything is computed."""
    if task.linkage is not None and task.linkage not in LINKAGES:
        msg = f"cluster: linkage is {task.linkage!r}, expected one of {', '.join(LINKAGES)}."
        raise InvalidArgumentError(msg)
    if task.linkage is not None and task.sparse and linkage_code(task.linkage) in EUCLIDEAN_ONLY:
        given, average = _shown("linkage", task.linkage), _shown("linkage", "average")
        why = hint(command="needs columns of numbers, but texts are compared", python="needs dense X, but X is sparse")
        msg = f"{given} {why}.\nHint: {average}"
        raise InvalidArgumentError(msg)
    if task.method is None:
        if task.params:
            msg = f"{_shown('params', task.params)} needs the method it belongs to.\nHint: {_shown('method', 'ReCon')}"
            raise InvalidArgumentError(msg)
        if task.bounds_sizes and not task.says(Kind.TRIPLET):
            _require_no_tree("COPKMeans, which keeps sizes of clusters within bounds,", task, COPKMeans)
        return
    name = task.method.__name__
    _require_no_tree(name, task, task.method)
    number = task.between or task.n_clusters
    if number is not None and "n_clusters" not in parameters(task.method):
        msg = (
            f"{_shown('n_clusters', number)}: {name} finds the number of clusters itself.\n"
            f"Hint: leave {hint(command='-k', python='n_clusters')} out."
        )
        raise InvalidArgumentError(msg)
    if task.metric not in ("euclidean", "cosine" if task.sparse else "euclidean") and not _compares(task.method):
        msg = f"metric={task.metric!r}: {name} has no metric to compare samples by.\nHint: leave metric out."
        raise InvalidArgumentError(msg)
    _require_params(task.method, task.params or {})


def require_fitting_size(size: Any, n_clusters: Any, known: Constraints, method: Any) -> None:
    """Refuse a smallest size of clusters where it would have no effect."""
    if size in (None, 1, "auto"):
        return
    if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)) or size < 1:
        msg = f'cluster: min_cluster_size is {size!r}, expected a whole number from 1, "auto" or None.'
        raise InvalidArgumentError(msg)
    name = hint(command="-k", python="n_clusters")
    lack = "" if isinstance(n_clusters, (int, np.integer)) else f"a number of clusters, but {name} is {n_clusters!r}"
    if method not in (None, ReCon):
        lack = f"ReCon, but the method is {method.__name__}"
    if not (known.kind == Kind.TRIPLET).all() or not known.n_statements:
        lack = "triplets alone, but there are " + ("others" if known.n_statements else "none")
    if lack:
        option = hint(command="--min-cluster-size", python="min_cluster_size")
        msg = f"{_shown('min_cluster_size', size)} goes with {lack}.\nHint: leave {option} out."
        raise InvalidArgumentError(msg)


def _require_no_tree(name: str, task: Task, method: Any) -> None:
    """Refuse a linkage or a height where the method has none."""
    has = parameters(method)
    for argument in ("linkage", "distance_threshold"):
        value = getattr(task, argument)
        if value is not None and argument not in has:
            if makes_tree(method):
                msg = f"{_shown(argument, value)} belongs to methods that merge by a linkage; {name} has none.\n"
                msg += "Hint: leave it out."
            else:
                msg = f"{_shown(argument, value)} belongs to methods that make a tree; {name} makes none.\n"
                msg += f"Hint: give the number of clusters, as in {_shown('n_clusters', 5)}, and no linkage."
            raise InvalidArgumentError(msg)


def _require_params(method: Any, params: Mapping[str, Any]) -> None:
    """Refuse parameters that a method does not have, or that are arguments of `cluster` itself."""
    known = [name for name in parameters(method) if name not in _OWN_ARGUMENTS]
    for name in params:
        where = hint(command=f"--set {name}", python=f"params[{name!r}]")
        if name in _OWN_ARGUMENTS:
            own = hint(command=_OWN_ARGUMENTS[name], python=name)
            msg = f"{where}: `{own}` sets it.\nHint: give {own} instead."
            raise InvalidArgumentError(msg)
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            advice = f"did you mean {near[0]}?" if near else "leave it out."
            msg = f"{where}: {method.__name__} has no such parameter; it has {', '.join(known)}.\nHint: {advice}"
            raise InvalidArgumentError(msg)


def _shown(argument: str, value: Any) -> str:
    """An argument with its value, as it is typed in a shell or written in Python."""
    if argument == "params":
        name, first = next(iter(value.items()))
        return hint(command=f"--set {name}={first}", python=f"params={dict(value)!r}")
    options = _OWN_ARGUMENTS | {"method": "--method", "min_cluster_size": "--min-cluster-size"}
    text = f"{value:g}" if isinstance(value, float) else str(value)
    text = "-".join(str(end) for end in value) if isinstance(value, tuple) else text
    return hint(command=f"{options[argument]} {text}", python=f"{argument}={value!r}")


# -- the estimator -----------------------------------------------------------------------------------------------------


def parameters(method: Any) -> dict[str, Any]:
    """The parameters of an estimator class, with their defaults."""
    return {name: one.default for name, one in inspect.signature(method).parameters.items()}


def makes_tree(method: Any) -> bool:
    """Whether an estimator class builds a dendrogram."""
    return issubclass(method, (HierarchyMixin, Consensus))


def needs_number(method: Any) -> bool:
    """Whether an estimator class has to be told the number of clusters."""
    return "n_clusters" in parameters(method) and None not in method._parameter_constraints["n_clusters"]


def _compares(method: Any) -> bool:
    """Whether the metric of an estimator class is that of `cluster`; elsewhere the name stands for a learned one."""
    return bool(parameters(method).get("metric") == "euclidean")


def make(method: Any, task: Task, linkage: str | None = None) -> Any:
    """Make an estimator with the arguments of a task that it has; ``linkage`` where the task names none."""
    has = parameters(method)
    given: dict[str, Any] = {
        "n_clusters": task.n_clusters,
        "distance_threshold": task.distance_threshold,
        "random_state": task.random_state,
        "min_cluster_size": task.min_cluster_size,
    }
    if _compares(method):
        given["metric"] = task.metric
    chosen = task.linkage or linkage
    if chosen is not None:
        given["linkage"] = chosen
    if not needs_number(method) or task.n_clusters is not None:
        model = method(**{name: value for name, value in given.items() if name in has} | dict(task.params or {}))
    else:
        msg = (
            f"cluster: {method.__name__} needs the number of clusters.\n"
            f"Hint: {hint(command='give it, as in -k 5', python='pass n_clusters')}; "
            f"{hint(command='`linkwise check`', python='`check(constraints)`')} finds how few there can be."
        )
        raise LinkwiseError(msg)
    if task.params:
        try:
            model._validate_params()
        except InvalidParameterError as wrong:
            msg = f"{hint(command='--set', python='params')}: {wrong}"
            raise InvalidArgumentError(msg) from wrong
    return model


def choose(task: Task) -> tuple[Any, str]:
    """The estimator for a task, unfitted, and the reason."""
    if task.method is not None:
        return _named(task)
    if task.divides_sparsely:
        made = make(SparseAgglomerative, task)
        made.refine = made.n_clusters <= MOST_REFINED
        return made, f"{task.n:,} samples are merged along nearest neighbors first."
    if task.compares_views:
        return make(Consensus, task), _agreement(task)
    if task.merges_sparsely and (task.says(Kind.TRIPLET) or task.n_clusters is None):
        return make(SparseAgglomerative, task), f"{task.n:,} samples are merged along nearest neighbors first."
    if task.says(Kind.TRIPLET):
        made = make(ReCon, task, "centroid" if task.is_plain else "average")
        return made, "triplets are constraints on a hierarchy."
    if task.bounds_sizes:
        return _by_centers(COPKMeans, task, "it keeps sizes of clusters within bounds, which hierarchies do not.")
    if task.known.rules:
        made = make(ConstrainedAgglomerative, task, "ward" if task.is_plain and task.is_large else "average")
        return made, "it keeps rules about distances while merging."
    usual = "ward" if task.is_plain else "average"
    if not task.says(*LINKS, *CHOICES):
        return make(ConstrainedAgglomerative, task, usual), "there are no statements."
    if not task.is_large:
        return make(ConstrainedCompleteLink, task, "average"), "constraints on pairs also move their neighbors."
    many = f"{task.n:,} samples are too many for a matrix of distances"
    if task.is_plain and task.n_clusters is not None and not task.needs_tree:
        if task.known.is_hard.all():
            return _by_centers(COPKMeans, task, f"{many}.")
        return _by_centers(PCKMeans, task, f"{many}, and soft statements are weighed against them.")
    made = make(ConstrainedAgglomerative, task, usual)
    if made.linkage == "ward":
        return made, f"{many}, and Ward linkage needs none."
    return made, f"{task.n:,} samples, and ConstrainedCompleteLink would hold more distances."


def _agreement(task: Task) -> str:
    if not task.known.n_statements:
        return "there are no statements; many views of the data vote."
    return "many views of the data vote, weighed by the statements they predict without being told them."


def _named(task: Task) -> tuple[Any, str]:
    """The estimator of the method asked for, with a linkage that suits the data."""
    default = parameters(task.method).get("linkage")
    linkage, why = default, "the method asked for."
    if default is not None and task.linkage is None:
        if task.method is ConstrainedAgglomerative and task.is_plain and task.is_large:
            linkage = "ward"
            why = f"the method asked for; {task.n:,} samples are too many for a matrix of distances, so Ward linkage."
        elif not task.is_plain and linkage_code(default) in EUCLIDEAN_ONLY and _compares(task.method):
            linkage = "average"
    return make(task.method, task, linkage), why


def _by_centers(method: Any, task: Task, why: str) -> tuple[Any, str]:
    """An estimator that works on plain vectors, or the reason why it cannot be chosen."""
    if not task.is_plain:
        msg = (
            f"cluster chose {method.__name__}, since {why} It works on plain vectors, but metric is {task.metric!r}.\n"
            'Hint: pass dense X with metric="euclidean", or leave the sizes out.'
        )
        raise LinkwiseError(msg)
    return make(method, task), why


def describe(model: Any) -> str:
    """An estimator as text: its name, and the parameters that differ from their defaults."""
    given = model.get_params(deep=False)
    skip = ("n_clusters", "random_state", "distance_threshold")
    changed = (
        f"{name}={given[name]!r}"
        for name, default in parameters(type(model)).items()
        if name not in skip and repr(given[name]) != repr(default)
    )
    return f"{type(model).__name__}({', '.join(changed)})"


def methods_that_understand(known: Constraints) -> list[str]:
    """Names of the methods that understand all kinds and rules of a table."""
    kinds, rules = set(np.unique(known.kind).tolist()), {type(rule) for rule in known.rules}
    found = ((name, load_method(name)) for name in METHODS)
    return [
        name
        for name, one in found
        if kinds <= one.understands | one.resolves and rules <= one.understands_rules | one.resolves_rules
    ]


# -- memory ------------------------------------------------------------------------------------------------------------


def planned_memory(model: Any, task: Task) -> int:
    """Bytes of distances that a hierarchy by linkage will hold; 0 for other methods, whose fits check themselves."""
    linkage = getattr(model, "linkage", None)
    if linkage is None or isinstance(model, Consensus):  # a consensus compares at most `max_samples`
        return 0
    kind = getattr(model, "dtype", "float64")
    metric = getattr(model, "metric", "euclidean")
    metric = metric if isinstance(metric, str) else "callable"
    matrix = plan_memory(task.n, "average", metric, kind)
    if task.sparse:  # vectors become distances, and the fit works on a copy of these
        return 8 * task.n**2 + matrix
    if isinstance(model, ConstrainedCompleteLink) and task.says(Kind.MUST_LINK, Kind.TOGETHER):
        return matrix + 4 * task.n**2
    apart = task.says(Kind.CANNOT_LINK, Kind.APART) or not isinstance(model, ConstrainedAgglomerative)
    return matrix if linkage == "single" and apart else plan_memory(task.n, linkage, metric, kind)


def require_room(model: Any, task: Task) -> None:
    """Log the memory that a fit will take if it is large; refuse a fit that cannot have it, before it begins."""
    ways = []
    if task.is_plain:
        ward = _shown("linkage", "ward")
        if isinstance(model, ConstrainedCompleteLink):
            ward = f"{_shown('method', 'agglomerative')}{hint(command=' ', python=', ')}{ward}"
        ways = [f"{ward} (or centroid, median) holds no distances"]
        if not task.says(Kind.TRIPLET):
            ways.append(f"{_shown('method', 'COPKMeans')} makes no tree and holds none")
    what = f"{getattr(model, 'linkage', '')} linkage of {task.n:,} samples by {type(model).__name__}"
    alternative = ", or ".join([*ways, "cluster some of the rows"])
    _memory.require_memory(planned_memory(model, task), what, f"{alternative}.", logger)
