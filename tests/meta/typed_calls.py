"""What a type checker knows of calls as users write them; mypy reads this file with the library, and a test runs it."""

from __future__ import annotations

from typing import Any, Literal, assert_type

import numpy as np
import numpy.typing as npt

import linkwise
from linkwise import (
    ConstrainedAgglomerative,
    Constraints,
    COPKMeans,
    Dendrogram,
    KnowledgeSearchCV,
    check,
    cluster,
    repair,
    why,
)
from linkwise.engines import ITML
from linkwise.problem import Repair, Why
from linkwise.result import Certificate
from linkwise.selection import Clustering

Labels = npt.NDArray[np.intp]


def types_survive(X: npt.NDArray[np.float64], said: Constraints) -> None:
    """Fit, and assert what the checker made of it; each line is also true when it runs."""
    assert_type(ConstrainedAgglomerative(3).fit(X, constraints=said), ConstrainedAgglomerative)
    assert_type(ConstrainedAgglomerative(3).fit(X, constraints=said).labels_, Labels)
    assert_type(ConstrainedAgglomerative(3).fit(X, constraints=said).dendrogram_, Dendrogram)
    assert_type(ConstrainedAgglomerative(3).fit(X, constraints=said).certificate_, Certificate)
    assert_type(COPKMeans(3).fit_predict(X, said), Labels)
    assert_type(ITML().fit(X, constraints=said), ITML)
    search = KnowledgeSearchCV(COPKMeans(), {"n_clusters": [3]}, cv=2)
    assert_type(search.fit(X, constraints=said).labels_, Labels)
    assert_type(check(said).status, Literal["feasible", "infeasible", "unknown"])
    assert_type(cluster(X, said, 3), Clustering)
    assert_type(cluster(X, said, 3).labels, Labels)
    assert_type(cluster(X, said, 3).certificate.ok, bool)
    assert_type(repair(said), Repair)
    assert_type(why([0] * len(X), 0, 1, said), Why)
    assert_type(said[[0, 1]], Constraints)


def wrong_names_are_found(said: Constraints) -> list[Any]:
    """Misspelled names, each an error of types: an ignored error that does not occur is reported."""
    return [
        lambda: linkwise.chek(said),  # type: ignore[attr-defined]
        lambda: linkwise.plots.plot_serch,  # type: ignore[attr-defined]
    ]
