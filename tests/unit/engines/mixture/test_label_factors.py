"""Maximum entropy EM: labels, other statements and unlabeled samples weighed against each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwise import Constraints
from linkwise.engines import PenalizedMixture
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from tests.oracles.mixture import WeighedLikelihoods
from tests.profile import examples

pytestmark = [
    pytest.mark.filterwarnings("ignore:EM did not converge:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.* found . cluster:linkwise.exceptions.LinkwiseWarning"),
]


def instance(seed):
    """Eight samples, four or five of them labeled, and pairs among all, or among the others if labels are hard."""
    rng = np.random.default_rng(seed)
    n, k = 8, 2 + seed % 2
    X = rng.normal(size=(n, 2)) + 2.0 * rng.integers(k, size=n)[:, None]
    y = np.full(n, -1)
    y[: k + 2] = [*range(k), *rng.integers(k, size=2)]
    weight = np.inf if seed % 3 == 0 else float(rng.exponential(1.0))
    some = np.arange(k + 2 if np.isinf(weight) else 0, n)
    pairs = {tuple(sorted(rng.choice(some, 2, replace=False).tolist())) for _ in range(2)}
    prices = [(*pair, bool(rng.random() < 0.5), float(rng.exponential(1.0))) for pair in sorted(pairs)]
    table = Constraints.from_labels(y, weight=weight)
    for i, j, together, price in prices:
        table |= Constraints.build(n, **{"must_link" if together else "cannot_link": [(i, j)]}, weight=price)
    labels = {i: (int(y[i]), weight) for i in range(n) if y[i] >= 0}
    alpha, beta = rng.dirichlet([1, 1, 1])[:2]
    return X, k, table, labels, prices, float(alpha), float(beta)


def test_em_agrees_with_enumeration():
    for seed in range(examples(200, 1000)):
        X, k, table, labels, prices, alpha, beta = instance(seed)
        twin = WeighedLikelihoods(len(X), k, labels, [], prices, alpha, beta)
        start = np.random.default_rng(seed).normal(size=(k, 2))
        options = {"tol": 0, "reg_covar": 0.05, "max_iter": 4, "init": start, "wide": "refuse"}
        model = PenalizedMixture(k, alpha=alpha, beta=beta, **options).fit(X, constraints=table)
        begin = first_labels(X, start, twin, k)
        values, _ = twin.em(X, begin, 0.05, 4)
        assert_allclose(model.lower_bounds_, values, rtol=1e-8, atol=1e-9)


def first_labels(X, start, twin, k):
    """The most probable labels under round Gaussians at the means, by enumeration."""
    square = ((X[:, None] - start[None]) ** 2).sum(axis=2)
    variance = square.min(axis=1).mean() / X.shape[1]
    density, best = -square / (2 * variance), np.zeros((len(X), k))
    for part in twin.parts:
        rows = list(itertools.product(range(k), repeat=len(part)))

        def value(row, part=part):
            label = dict(zip(part.tolist(), row, strict=True))
            total = sum(density[i, label[i]] for i in label)
            total -= sum(w for i, (c, w) in twin.labels.items() if i in label and label[i] != c)
            return total - sum(w for i, j, t, w in twin.prices if i in label and (label[i] == label[j]) != t)

        best[part, max(rows, key=value)] = 1
    return best


def test_equal_weights_are_no_weights():
    """With a third for each kind the objective is a third of the plain one, and hard labels are hard pairs."""
    rng = np.random.default_rng(0)
    for seed in range(examples(5, 100)):
        X = np.random.default_rng(seed).normal(size=(30, 2)) + 3.0 * (np.arange(30) % 3)[:, None]
        y = np.where(np.arange(30) < 9, np.arange(30) % 3, -1)
        table = Constraints.from_labels(y) | Constraints.build(30, must_link=[(0, 20)], weight=float(rng.random()))
        start = np.array([X[y == j].mean(axis=0) for j in range(3)])
        options = {"init": start, "tol": 0, "max_iter": 10}
        plain = PenalizedMixture(3, **options).fit(X, constraints=table)
        third = PenalizedMixture(3, alpha=1 / 3, beta=1 / 3, **options).fit(X, constraints=table)
        assert third.certificate_.ok
        assert_allclose(third.means_, plain.means_, rtol=1e-6)
        assert_allclose(third.responsibilities_, plain.responsibilities_, atol=1e-6)


def test_the_objective_never_falls():
    for seed in range(examples(20, 500)):
        X, k, table, _, _, alpha, beta = instance(seed)
        X = np.vstack([X, np.random.default_rng(seed).normal(size=(20, 2)) * 2])
        table = _widened(table, 28)
        model = PenalizedMixture(k, alpha=alpha, beta=beta, reg_covar=0, tol=0, max_iter=8, covariance_type="tied")
        model.fit(X, constraints=table)
        assert (np.diff(model.lower_bounds_) >= -1e-9).all()
        assert model.certificate_.ok


def _widened(table, n):
    """The same statements about more samples."""
    labels = table.labels
    y = np.full(n, -1)
    y[labels.sample] = labels.label
    out = Constraints.from_labels(y, weight=table.weight[labels.owner >= 0].max())
    for at in np.flatnonzero(labels.owner < 0).tolist():
        word = table.describe(at).split()[1].split("(")[0]
        out |= Constraints.build(n, **{word: [table.items[at, :2]]}, weight=table.weight[at])
    return out


def test_labels_of_the_right_weight_win_over_wrong_ones():
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    said = np.where(np.arange(90) < 30, y, -1)
    said[0], said[1], said[2] = 1, 2, 0
    soft = Constraints.from_labels(said, weight=2.0)
    model = PenalizedMixture(3, alpha=0.4, beta=0.3, random_state=0).fit(X, constraints=soft)
    assert model.labels_[:3].tolist() == [0, 1, 2]
    assert adjusted_rand(y, model.labels_) > 0.85
    hard = PenalizedMixture(3, alpha=0.4, beta=0.3, random_state=0).fit(X, constraints=Constraints.from_labels(said))
    assert hard.certificate_.ok
    assert adjusted_rand(said, hard.labels_) == 1.0


def test_samples_without_statements_can_be_left_out():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 1)), rng.normal(size=(20, 1)) + 4, rng.normal(size=(40, 1)) + 50])
    y = np.r_[np.zeros(20), np.ones(20), -np.ones(40)].astype(int)
    model = PenalizedMixture(2, alpha=0.0, beta=1.0, random_state=0).fit(X, constraints=Constraints.from_labels(y))
    assert_allclose(model.means_.ravel(), [X[:20].mean(), X[20:40].mean()], rtol=1e-6)


@pytest.mark.parametrize("wide", ["mean_field", "gibbs"])
def test_wide_components_are_approximated_with_labels(wide):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    table = Constraints.from_labels(np.where(np.arange(40) < 6, y, -1))
    pairs = [(i, j) for i in range(6, 16) for j in range(i + 1, 16)]
    table |= Constraints.build(
        40,
        must_link=[p for p in pairs if y[p[0]] == y[p[1]]],
        cannot_link=[p for p in pairs if y[p[0]] != y[p[1]]],
        weight=2.0,
    )
    table |= Constraints.build(40, cannot_link=[(20, 21), (0, 22)])
    options = {"alpha": 0.3, "beta": 0.3, "wide": wide, "max_states": 5, "random_state": 0}
    model = PenalizedMixture(3, **options).fit(X, constraints=table)
    assert model.certificate_.ok
    assert model.n_approximated_ > 0
    assert adjusted_rand(y, model.labels_) > 0.6


@pytest.mark.parametrize(
    ("options", "table", "message"),
    [
        ({"alpha": 0.5}, Constraints.build(4), "alpha is 0.5 and beta is None, expected two numbers"),
        ({"alpha": 0.7, "beta": 0.5}, Constraints.build(4), "a sum of at most 1"),
        ({"alpha": 0.0, "beta": 0.0}, Constraints.build(4), "leave no sample with a weight above 0"),
        (
            {"alpha": 0.3, "beta": 0.3},
            Constraints.from_labels([0, 1, 2, 3], weight=1.0),
            "4 classes, expected at most n_clusters=2",
        ),
        (
            {"alpha": 0.3, "beta": 0.3},
            Constraints.from_labels([0, 0, 1, -1]) | Constraints.from_labels([5, 5, -1, 6]),
            "hold 2 labelings, expected one",
        ),
    ],
)
def test_what_cannot_be_weighed_is_refused(options, table, message):
    with pytest.raises(LinkwiseError, match=message):
        PenalizedMixture(2, **options).fit(np.arange(8.0).reshape(4, 2), constraints=table)
