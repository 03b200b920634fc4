"""Fit one estimator to one hostile problem, and report whatever breaks a promise."""

from __future__ import annotations

import inspect
import random
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import linkwise
from linkwise import Constraints, COPKMeans, Kind
from linkwise.constraints import SizeBetween
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning, ViolationError
from tests.hostile.judge import alike, build_conflict, dense, holds, pairs_conflict, snapshot
from tests.hostile.problems import KINDS, draw_problem

# what keeps a fit of a few dozen samples short without leaving anything out
QUICK = {
    "DistBoost": {"n_rounds": 3},
    "BiHAC": {"max_iter": 8},
    "BiiHAC": {"max_iter": 8},
    "LeastSquaresUltrametric": {"n_kicks": 1, "budget": 0.05},
    "SpectralLearning": {"n_init": 2},
    "KernelKMeans": {"n_init": 2},
    "XingMetric": {"max_iter": 50},
    "ITML": {"max_iter": 100},
    "LSML": {"max_iter": 100},
    "SVMMetric": {"max_iter": 50},
}
HERE = str(Path(linkwise.__file__).parent)


class FrontDoor:
    """`linkwise.cluster` in the shape of an estimator."""

    understands = frozenset(Kind)

    def __init__(self, n_clusters=None, *, random_state=0):
        self.n_clusters, self.random_state = n_clusters, random_state

    def fit(self, X, y=None, *, constraints=None):
        found = linkwise.cluster(
            X, y if constraints is None else constraints, self.n_clusters, random_state=self.random_state
        )
        self.labels_, self.certificate_ = found.labels, found.certificate
        if getattr(found, "dendrogram", None) is not None:
            self.dendrogram_ = found.dendrogram
        return self


BASES = ("ConstrainedClusterer", "ConstrainedEstimator", "DistanceLearner", "MetricLearner")


def estimators():
    """Every estimator that linkwise exports, and the front door, by name."""
    found = {name: getattr(linkwise.engines, name) for name in linkwise.engines.__all__ if name not in BASES}
    found["KnowledgeSearchCV"] = linkwise.KnowledgeSearchCV
    found = {name: cls for name, cls in found.items() if inspect.isclass(cls) and callable(getattr(cls, "fit", None))}
    return {"cluster": FrontDoor, **dict(sorted(found.items()))}


class Case:
    """One estimator with settings and one problem, both drawn from a seed."""

    def __init__(self, seed, names=None):
        self.seed = seed
        r = random.Random(seed)
        known = estimators()
        self.name = r.choice(sorted(known) if names is None else names)
        cls = known[self.name]
        self.cls = cls
        kinds = sorted(k.word for k in getattr(cls, "understands", set()) if k.word in KINDS)
        if self.name in ("cluster", "KnowledgeSearchCV"):
            kinds = (
                ["cannot_link", "must_link"] if r.random() < 0.7 else ["apart", "cannot_link", "must_link", "together"]
            )
        elif r.random() < 0.4:
            kinds = [r.choice(kinds)]
        self.problem = draw_problem(r, tuple(kinds))
        self.rules = ()
        if SizeBetween in getattr(cls, "understands_rules", ()) and r.random() < 0.25:
            count = Counter(self.problem.y).values()
            self.rules = (SizeBetween(min(count), max(count)),)
        self.params = self._settings(r, cls)
        self.as_y = r.random() < 0.15
        self.again = r.random() < 0.25
        self.stored = r.random() < 0.25

    def _settings(self, r, cls):
        if self.name == "KnowledgeSearchCV":
            return {}
        accepted, out = inspect.signature(cls).parameters, {}
        problem = self.problem
        if "n_clusters" in accepted:
            out["n_clusters"] = problem.k
            free = getattr(cls, "_parameter_constraints", {}).get("n_clusters", ())
            if any(one is None for one in free) and r.random() < 0.25:
                out["n_clusters"] = None
            elif r.random() < 0.05:
                out["n_clusters"] = r.choice((1, problem.n, problem.n + 1))
        if "random_state" in accepted:
            out["random_state"] = r.randrange(1000)
        for name, allowed in sorted(getattr(cls, "_parameter_constraints", {}).items()):
            words = sorted({word for one in allowed for word in getattr(one, "options", ())} - {"precomputed"}, key=str)
            if words and name not in out and r.random() < 0.25:
                out[name] = r.choice(words)
        out.update({key: value for key, value in QUICK.get(self.name, {}).items() if key in accepted})
        return out

    def make(self):
        """A fresh estimator."""
        if self.name == "KnowledgeSearchCV":
            grid = {"n_clusters": [self.problem.k, self.problem.k + 1]}
            return self.cls(COPKMeans(random_state=0), grid, cv=3, random_state=0)
        return self.cls(**self.params)

    def constraints(self):
        weight = np.inf if self.problem.weight is None else self.problem.weight
        return Constraints.build(self.problem.n, **self.problem.said, weight=weight, rules=self.rules)

    def fit(self, model, said):
        return model.fit(self.problem.X, said) if self.as_y else model.fit(self.problem.X, constraints=said)

    @property
    def words(self):
        p = self.problem
        settings = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        hard = "hard" if p.weight is None else f"weight={p.weight}"
        return f"{self.name}({settings}) n={p.n} k={p.k} [{p.words}] {p.said} {hard} {self.rules} feasible={p.feasible}"


def place_of(error):
    """Where in the library an error came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HERE)]
    return f"{frames[-1].filename[len(HERE) + 1 :]}:{frames[-1].lineno}" if frames else "?"


def is_worded(error):
    """Whether an error is linkwise's own, or says what was expected or what to type."""
    text = str(error)
    if isinstance(error, LinkwiseError):
        return bool(text) and not isinstance(error, ViolationError)
    # the last two are how scikit-learn words parameters and shapes that its own estimators refuse alike
    marks = ("Hint:", "expected", "must be", "is required by")
    return isinstance(error, (TypeError, ValueError)) and any(mark in text for mark in marks)


def examine(case, tally):
    """Fit and judge one case; return the failures as pairs of a sort and what was found."""
    found = []

    def report(sort, detail=""):
        found.append((sort, str(detail)[:200]))

    problem, said, model = case.problem, case.constraints(), case.make()
    before, known = snapshot(problem.X), (said.items.copy(), said.weight.copy())
    heard = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            case.fit(model, said)
    except Exception as error:  # noqa: BLE001 - whatever comes is judged
        tally[type(error).__name__] += 1
        _judge_error(case, said, error, report)
        model = None
    if not alike(before, snapshot(problem.X)):
        report("input modified", problem.words)
    if not (np.array_equal(said.items, known[0]) and np.array_equal(said.weight, known[1])):
        report("constraints modified")
    _judge_warnings(heard, report)
    if model is None:
        return found
    tally["fitted"] += 1
    if hasattr(model, "labels_"):
        _judge_labels(case, said, model, heard, report)
        how = "predict"
    else:
        moved = _ask(model, "transform", problem.X)
        if isinstance(moved, Exception):
            report("transform raised", f"{type(moved).__name__} {moved} @ {place_of(moved)}")
        elif not np.isfinite(moved).all():
            report("transform is not finite", problem.words)
        how = "transform"
    if case.again:
        _judge_repeat(case, said, model, report)
    if case.stored and case.name not in ("cluster", "KnowledgeSearchCV"):
        _judge_stored(case, model, how, report)
    return found


def _judge_error(case, said, error, report):
    if not is_worded(error):
        report(f"bare {type(error).__name__}", f"{error} @ {place_of(error)}")
    wanted = case.params.get("n_clusters") or case.problem.k
    if isinstance(error, InfeasibleConstraintsError):
        if case.problem.feasible and wanted == case.problem.k and not case.rules:
            report("false infeasible", error)
        elif error.explanation is not None and not case.rules:
            _judge_core(case, said, error.explanation.core, report)


def _judge_core(case, said, core, report):
    """A core contradicts itself, and no longer does without any one of its statements."""
    rows = [(kind, row) for kind, row, _ in case.problem.rows]
    if said.n_statements != len(rows):
        return
    chosen = [rows[int(i)] for i in core]
    kinds = {kind for kind, _ in chosen}
    if kinds == {"triplets"}:

        def wrong(some):
            return build_conflict([row for _, row in some], range(case.problem.n))

    elif "triplets" not in kinds:
        # statements that contradict each other in any number of clusters are named as such
        k = None if pairs_conflict(chosen, case.problem.n) else case.params.get("n_clusters")

        def wrong(some):
            return pairs_conflict(some, case.problem.n, k)

    else:
        return  # pairs against triplets: beyond plain code
    if not wrong(chosen):
        report("core does not contradict itself", chosen)
    elif any(wrong(chosen[:i] + chosen[i + 1 :]) for i in range(len(chosen))):
        report("core is not minimal", chosen)


def _judge_warnings(heard, report):
    for one in heard:
        if not issubclass(one.category, (LinkwiseWarning, ConvergenceWarning)):
            place = one.filename.removeprefix(HERE + "/")
            report(f"{one.category.__name__} reached the user", f"{one.message} @ {place}:{one.lineno}")


def _judge_labels(case, said, model, heard, report):
    problem = case.problem
    labels = [int(v) for v in model.labels_]
    used = sorted(set(labels) - {-1} if case.name == "ReCon" else set(labels))
    told = " ".join(
        str(one.message) for one in heard if issubclass(one.category, (LinkwiseWarning, ConvergenceWarning))
    )
    if len(labels) != problem.n:
        report("labels of another length", f"{len(labels)} for {problem.n}")
        return
    if used != list(range(len(used))):
        report("labels have gaps", used)
    if getattr(model, "n_clusters_", len(used)) != len(used):
        report("n_clusters_ is wrong", f"{model.n_clusters_} for {len(used)}")
    wanted = case.params.get("n_clusters")
    if wanted is not None and len(used) != wanted and str(len(used)) not in told:
        report("another number of clusters, quietly", f"{len(used)} for {wanted}")
    tree = getattr(model, "dendrogram_", None)
    parent = None if tree is None else [int(v) for v in tree.parent]
    broken = [(kind, row, w) for kind, row, w in problem.rows if not holds(kind, row, labels, parent)]
    hard = [row for *row, w in broken if w == np.inf]
    if hard and not (getattr(model, "best_effort", False) and told):
        report("hard statement broken", hard[:3])
    all_hard = all(w == np.inf for *_, w in problem.rows)
    if not problem.feasible and all_hard and not hard:
        report("infeasible statements called held", problem.said)
    for rule in case.rules:
        sizes = Counter(labels).values()
        if min(sizes) < rule.low or (rule.high is not None and max(sizes) > rule.high):
            report("size rule broken", f"{sorted(sizes)} {rule}")
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and all_hard and said.n_statements == len(problem.rows):
        gone = set(model.dropped_.row.tolist()) if getattr(case.cls, "best_effort", False) else set()
        if gone and (problem.feasible or "left out" not in told):  # only contradictions are dropped, and never quietly
            report("hard statements dropped", sorted(gone))
        in_force = [row for i, row in enumerate(problem.rows) if i not in gone]
        hard = [row for *row, w in broken if (*row, w) in in_force]
        mine = Counter(kind for kind, row, _ in in_force if holds(kind, row, labels, parent))
        theirs = {kind: held for kind, (held, _) in certificate.counts.items() if held}
        if dict(mine) != theirs:
            report("certificate differs from the judge", f"{dict(mine)} against {theirs}")
        if certificate.ok == bool(hard) and not case.rules:
            report("certificate is wrong", certificate.ok)
    if tree is not None:
        _judge_tree(tree, parent, report)


def _judge_tree(tree, parent, report):
    height = [float(v) for v in tree.height]
    if not np.isfinite(height).all():
        report("heights are not finite")
    if any(above >= 0 and height[above] < height[node] for node, above in enumerate(parent)):
        report("heights fall on the way up")
    for k in {tree.n_roots, (tree.n_roots + tree.n_samples) // 2, tree.n_samples}:
        try:
            got = len(set(tree.cut(n_clusters=k).tolist()))
        except LinkwiseError:
            continue  # nodes with many children leave out some numbers
        if got != k:
            report("a cut gives another number of clusters", f"{got} for {k}")


def _ask(model, how, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(dense(getattr(model, how)(X)))
        except Exception as error:  # noqa: BLE001 - judged by the caller
            return error


def _same(a, b):
    if isinstance(a, Exception) or isinstance(b, Exception):
        return type(a) is type(b)
    return np.array_equal(a, b, equal_nan=True)


def _judge_repeat(case, said, model, report):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = case.fit(case.make(), said)
    if hasattr(model, "labels_"):
        same = np.array_equal(model.labels_, again.labels_)
    else:
        same = _same(*(_ask(one, "transform", case.problem.X) for one in (model, again)))
    if not same:
        report("same seed, another result", case.problem.words)


def _judge_stored(case, model, how, report):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lwm")
        try:
            linkwise.save(model, path)
            back = linkwise.load(path)
        except Exception as error:  # noqa: BLE001 - whatever comes is a failure
            report("cannot be saved and loaded", f"{type(error).__name__} {error} @ {place_of(error)}")
            return
    if hasattr(model, "labels_") and not np.array_equal(model.labels_, back.labels_):
        report("loaded labels differ")
    if hasattr(model, how):
        one, other = _ask(model, how, case.problem.X), _ask(back, how, case.problem.X)
        if not _same(one, other):
            report(f"{how} differs after loading", f"{one!r} {other!r}")
        elif isinstance(one, Exception) and not is_worded(one):
            report(f"{how}: bare {type(one).__name__}", f"{one} @ {place_of(one)}")
