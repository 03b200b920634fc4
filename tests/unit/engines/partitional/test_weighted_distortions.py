"""Learned cosine, Pearson and relative entropy against their definitions: objectives, half-steps, weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad, minimize

from linkwise import Constraints, load, save, verify
from linkwise.engines import HMRFKMeans
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from linkwise.sources import label_pairs
from tests.oracles import soft_kmeans as twins
from tests.profile import examples
from tests.unit.engines.outcomes import outcome
from tests.unit.engines.partitional.test_soft_objectives import statements

TWINS = {
    "cosine": twins.WeightedCosineHMRF,
    "pearson": lambda *problem: twins.WeightedCosineHMRF(*problem, centered=True),
    "kl": twins.WeightedEntropyHMRF,
}
each = pytest.mark.parametrize("distortion", TWINS)


def problem(seed, n, m, *, positive):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + 2.0 * np.eye(4)[rng.integers(3, size=n)]
    X = np.abs(X) + 0.05 if positive else X
    if positive and seed % 3 == 0:
        X[rng.random(X.shape) < 0.2] = 0.0
        X[:, 0] += 0.1
    must, cannot = [], []
    for _ in range(m):
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        (must if rng.random() < 0.5 else cannot).append((i, j, float(rng.uniform(0.1, 3.0))))
    return X, must, cannot


@each
def test_every_half_step_has_the_value_of_the_definition_and_none_rises(distortion):
    steps, learned = 0, 0
    for seed in range(examples(70, 500)):
        X, must, cannot = problem(seed, 9, 6, positive=distortion == "kl")
        k = 2 + seed % 2
        twin, seen = TWINS[distortion](X, k, must, cannot), []

        def watch(step, labels, centers, metric, value, seen=seen, twin=twin, k=k):
            seen.append(value)
            A = [np.diag(metric[0])] * k
            assert_allclose(value, twin.objective(labels, centers, A), rtol=1e-8, atol=1e-9)
            if step == "centers":
                other = twin.centers(labels, centers, A)
                assert_allclose(twin.objective(labels, other, A), value, rtol=1e-8, atol=1e-9)

        c = statements(9, must, cannot, extra_must=[(0, 1)], extra_cannot=[(0, 2)])
        options = {"distortion": distortion, "form": "diagonal", "random_state": seed, "n_init": 1}
        run = outcome(HMRFKMeans, X, c, k, watch=watch, **options)
        assert verify(run.labels, c).ok
        assert (np.diff(seen) <= 1e-9 * (1 + np.abs(seen[:-1]))).all()
        steps += len(seen)
        learned += bool(np.ptp(run.metric) > 1e-3)
    assert steps > 5 * examples(70, 500)
    assert learned > 0.9 * examples(70, 500)


def test_weights_of_relative_entropy_are_the_best_for_their_labels():
    """Without cannot-links the step of the weights is exact: a general optimizer finds the same."""
    for seed in range(examples(10, 200)):
        X, must, _ = problem(seed, 9, 6, positive=True)
        twin, last = twins.WeightedEntropyHMRF(X, 2, must, []), {}

        def watch(step, labels, centers, metric, value, last=last):
            if step == "metric":
                last.update(labels=labels.copy(), centers=centers.copy(), value=value)

        options = {"distortion": "kl", "form": "diagonal", "random_state": seed, "n_init": 1}
        outcome(HMRFKMeans, X, statements(9, must, []), 2, watch=watch, **options)

        def value(theta, twin=twin, last=last):
            return twin.objective(last["labels"], last["centers"], [np.diag(np.exp(theta))] * 2)

        found = minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
        assert_allclose(last["value"], found.fun, rtol=1e-6)


def test_the_gradient_of_weighted_cosines_is_that_of_the_objective():
    from linkwise.engines.partitional import _weighted_distortions as module

    X, must, cannot = problem(3, 9, 8, positive=False)
    seen = []

    def spy(function, start, **options):
        seen.append((function, start))
        return minimize(function, start, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scipy.optimize.minimize", spy)
        options = {"distortion": "cosine", "form": "diagonal", "random_state": 0, "n_init": 1}
        outcome(HMRFKMeans, X, statements(9, must, cannot), 2, **options)
    assert seen
    assert module._STEPS == 20
    for function, start in seen:
        for at in (start, start + np.array([0.3, -0.2, 0.1, 0.4])):
            wrong = check_grad(lambda t, f=function: f(t)[0], lambda t, f=function: f(t)[1], at)
            assert wrong < 1e-5


@each
def test_features_that_tell_classes_apart_get_large_weights(distortion):
    y, gain = np.arange(90) % 3, []
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(90, 7))
        X[:, :3] += 2.0 * np.eye(3)[y]
        X[:, 3:] *= 1.5
        X = np.exp(X / 2) if distortion == "kl" else X
        options = {"distortion": distortion, "random_state": 0}
        known = label_pairs(y, 80, seed, weight=1.0)
        model = HMRFKMeans(3, form="diagonal", **options).fit(X, constraints=known)
        assert model.metric_.shape == (7,)
        assert model.metric_[:3].min() > model.metric_[3:].max()
        plain = HMRFKMeans(3, **options).fit(X, constraints=known)
        gain.append(adjusted_rand(y, model.labels_) - adjusted_rand(y, plain.labels_))
    assert np.mean(gain) > 0


@each
def test_saved_models_assign_new_rows_by_the_weights(distortion, tmp_path):
    X, must, cannot = problem(1, 30, 20, positive=distortion == "kl")
    model = HMRFKMeans(3, distortion=distortion, form="diagonal", random_state=0)
    model.fit(X, constraints=statements(30, must, cannot))
    save(model, tmp_path / "model.lwm")
    again = load(tmp_path / "model.lwm")
    new = problem(2, 12, 0, positive=distortion == "kl")[0]
    twin = TWINS[distortion](np.vstack([X, new]), 3, [], [])
    wanted = [
        [twin.sample_cost(30 + i, h, model.cluster_centers_, [np.diag(model.metric_)]) for h in range(3)]
        for i in range(12)
    ]
    assert_allclose(again.transform(new), wanted, atol=1e-9)
    assert again.predict(new).tolist() == np.argmin(wanted, axis=1).tolist()


def test_pearsons_distance_ignores_level_and_scale_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) + 2 * np.eye(5)[np.arange(30) % 3]
    known = Constraints.build(30, must_link=[(0, 3)], cannot_link=[(0, 1)], weight=1.0)
    moved = X * rng.uniform(0.5, 2.0, size=(30, 1)) + rng.normal(size=(30, 1))
    one, two = (HMRFKMeans(3, distortion="pearson", random_state=0).fit(rows, constraints=known) for rows in (X, moved))
    assert one.labels_.tolist() == two.labels_.tolist()
    assert_allclose(one.objective_, two.objective_)
    assert_allclose(one.transform(X)[0, 0], 1 - np.corrcoef(X[0], one.cluster_centers_[0])[0, 1])
    with pytest.raises(LinkwiseError, match="row 2 of X has no correlation: all its values are the same"):
        HMRFKMeans(2, distortion="pearson").fit([[0.1, 0.2], [1.0, 0.0], [0.3, 0.3]])


def test_rows_that_are_all_the_same_keep_weights_finite():
    model = HMRFKMeans(1, distortion="cosine", form="diagonal").fit(np.ones((5, 3)))
    assert_allclose(model.metric_, 1.0)
