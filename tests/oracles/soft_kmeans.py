"""Soft k-means from the definitions: objectives by loops over samples and pairs, assignments by enumeration.

A problem is ``(X, k, must, cannot)`` with ``must`` and ``cannot`` lists of ``(i, j, weight)``; ``A`` is a list with one
matrix per cluster, or None.
"""

from __future__ import annotations

from itertools import product

import numpy as np


def squared(x, y, A=None):
    gap = np.asarray(x, float) - np.asarray(y, float)
    return float(gap @ gap) if A is None else float(gap @ A @ gap)


def ridge_of(X, *, diagonal):
    """A thousandth of the covariance; where that is flat, of the mean variance."""
    S = np.atleast_2d(np.cov(X.T, bias=True))
    typical = float(np.mean(np.diag(S))) or 1.0
    if diagonal:
        return np.diag([1e-3 * (v if v > 0 else typical) for v in np.diag(S)])
    value, vector = np.linalg.eigh(S)
    return vector @ np.diag([1e-3 * (v if v > 1e-14 * max(value) else typical) for v in value]) @ vector.T


def largest(X, A=None):
    return max((squared(x, y, A) for x in X for y in X), default=0.0)


def cosine(x, y):
    return 1.0 - float(x @ y) / (np.sqrt(float(x @ x)) * np.sqrt(float(y @ y)))


def weighted_cosine(x, y, a):
    """1 minus the cosine, each feature multiplied by the root of its weight."""
    root = np.sqrt(a)
    return cosine(root * x, root * y)


def weighted_entropy(p, q, a):
    """I-divergence with a weight for each feature; for distributions and equal weights the relative entropy."""
    return float(sum(w * ((x * np.log(x / y) if x > 0 else 0.0) - x + y) for x, y, w in zip(p, q, a, strict=True)))


def rayleigh(a, strength):
    """The prior of weights: least at 1."""
    return strength * sum(w**2 / 2 - np.log(w) - 0.5 for w in a)


def relative_entropy(p, q):
    return float(sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0))


def to_mean(p, q):
    mean = (np.asarray(p) + np.asarray(q)) / 2
    return relative_entropy(p, mean) + relative_entropy(q, mean)


class Definition:
    """One method: what a sample costs, what a broken pair costs, where centers and metric go."""

    def __init__(self, X, k, must, cannot, *, form="none", per_cluster=False):
        self.X, self.k, self.must, self.cannot = np.asarray(X, float), k, must, cannot
        self.form, self.per_cluster, self.tied = form, per_cluster, False
        self.ridge = ridge_of(self.X, diagonal=form == "diagonal")

    def first_metric(self):
        return None if self.form == "none" else [np.eye(self.X.shape[1])] * self.k

    def sample_cost(self, i, h, C, A):
        if A is None:
            return squared(self.X[i], C[h])
        return squared(self.X[i], C[h], A[h]) - np.log(np.linalg.det(A[h])) + np.trace(A[h] @ self.ridge)

    def must_cost(self, i, j, a, b, C, A):
        raise NotImplementedError

    def cannot_cost(self, i, j, a, C, A):
        raise NotImplementedError

    def rest(self, C, A):
        return 0.0

    def objective(self, labels, C, A=None):
        total = self.rest(C, A)
        for i, h in enumerate(labels):
            total += self.sample_cost(i, h, C, A)
        for i, j, w in self.must:
            if labels[i] != labels[j]:
                total += w * self.must_cost(i, j, labels[i], labels[j], C, A)
        for i, j, w in self.cannot:
            if labels[i] == labels[j]:
                total += w * self.cannot_cost(i, j, labels[i], C, A)
        return total

    def best_labels(self, C, A, before=None):
        """Enumerate all labelings; costs are looked up in tables so that it ends."""
        n, k = len(self.X), self.k
        every = np.array(list(product(range(k), repeat=n)))
        own = np.array([[self.sample_cost(i, h, C, A) for h in range(k)] for i in range(n)])
        total = own[np.arange(n), every].sum(axis=1)
        for i, j, w in self.must:
            table = [[0.0 if a == b else w * self.must_cost(i, j, a, b, C, A) for b in range(k)] for a in range(k)]
            total += np.array(table)[every[:, i], every[:, j]]
        for i, j, w in self.cannot:
            table = np.array([w * self.cannot_cost(i, j, a, C, A) for a in range(k)])
            total += np.where(every[:, i] == every[:, j], table[every[:, i]], 0.0)
        first, second = np.partition(total, 1)[:2]
        self.tied |= bool(second - first <= 1e-9 * (1 + abs(first)))
        return every[np.argmin(total)], float(first) + self.rest(C, A)

    def centers(self, labels, C, A):
        return np.array([self.X[labels == h].mean(axis=0) for h in range(self.k)])

    def scatter(self, labels, C, A, h):
        """Weighted scatter that the metric of cluster ``h``, or of all with None, answers to."""
        d = self.X.shape[1]
        S, clusters = np.zeros((d, d)), range(self.k) if h is None else [h]
        for i, a in enumerate(labels):
            if a in clusters:
                S += np.outer(self.X[i] - C[a], self.X[i] - C[a])
        for i, j, w in self.must:
            if labels[i] != labels[j]:
                share = sum(a in clusters for a in (labels[i], labels[j])) / 2
                S += w * share * np.outer(self.X[i] - self.X[j], self.X[i] - self.X[j])
        for i, j, w in self.cannot:
            if labels[i] == labels[j] and labels[i] in clusters:
                x, y = self.farthest(A[labels[i]])
                S += w * (np.outer(x - y, x - y) - np.outer(self.X[i] - self.X[j], self.X[i] - self.X[j]))
        return S

    def farthest(self, A):
        return max(((x, y) for x in self.X for y in self.X), key=lambda pair: squared(*pair, A))

    def next_metric(self, labels, C, A):
        wanted = []
        for h in range(self.k) if self.per_cluster else [None]:
            count = len(labels) if h is None else int((labels == h).sum())
            S = self.scatter(labels, C, A, h)
            if self.form == "diagonal":
                new = np.diag(count / (np.maximum(np.diag(S), 0.0) + np.diag(self.ridge) * count))
            else:  # in coordinates where the ridge is 1
                L = np.linalg.cholesky(self.ridge)
                value, vector = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, S).T))
                half = np.linalg.solve(L.T, vector)
                new = half @ np.diag(count / (np.maximum(value, 0.0) + count)) @ half.T
            wanted.append(new)
        if not self.per_cluster:
            wanted = wanted * self.k
        now = self.objective(labels, C, A)
        for halvings in range(6 if self.cannot else 1):
            trial = [a + (b - a) / 2**halvings for a, b in zip(A, wanted, strict=True)]
            if not self.cannot or self.objective(labels, C, trial) <= now:
                return trial
        return A

    def run(self, C, steps):
        """Alternate; return the objective after each assignment, or None if a cluster was empty or labels tied."""
        A, values, labels = self.first_metric(), [], None
        for _ in range(steps):
            labels, value = self.best_labels(C, A, labels)
            if self.tied or len(set(labels.tolist())) < self.k:
                return None
            values.append(value)
            C = self.centers(labels, C, A)
            if A is not None:
                A = self.next_metric(labels, C, A)
        return values


class PCK(Definition):
    def must_cost(self, i, j, a, b, C, A):
        return 1.0

    def cannot_cost(self, i, j, a, C, A):
        return 1.0


class HMRF(Definition):
    """Also MPCK, which is this with a metric."""

    def must_cost(self, i, j, a, b, C, A):
        if A is None:
            return squared(self.X[i], self.X[j])
        return (squared(self.X[i], self.X[j], A[a]) + squared(self.X[i], self.X[j], A[b])) / 2

    def cannot_cost(self, i, j, a, C, A):
        M = None if A is None else A[a]
        return largest(self.X, M) - squared(self.X[i], self.X[j], M)


class CosineHMRF(Definition):
    def __init__(self, X, k, must, cannot):
        super().__init__(X, k, must, cannot)
        self.top = 1.0 if (self.X >= 0).all() else 2.0

    def sample_cost(self, i, h, C, A):
        return cosine(self.X[i], C[h])

    def must_cost(self, i, j, a, b, C, A):
        return cosine(self.X[i], self.X[j])

    def cannot_cost(self, i, j, a, C, A):
        return self.top - cosine(self.X[i], self.X[j])

    def centers(self, labels, C, A):
        unit = self.X / np.sqrt((self.X**2).sum(axis=1, keepdims=True))
        sums = np.array([unit[labels == h].sum(axis=0) for h in range(self.k)])
        return sums / np.sqrt((sums**2).sum(axis=1, keepdims=True))


class EntropyHMRF(Definition):
    PULL = 0.01

    def __init__(self, X, k, must, cannot):
        X = np.asarray(X, float)
        super().__init__(X / X.sum(axis=1, keepdims=True), k, must, cannot)

    def sample_cost(self, i, h, C, A):
        return relative_entropy(self.X[i], C[h])

    def must_cost(self, i, j, a, b, C, A):
        return to_mean(self.X[i], self.X[j])

    def cannot_cost(self, i, j, a, C, A):
        return 2 * np.log(2) - to_mean(self.X[i], self.X[j])

    def rest(self, C, A):
        return self.PULL * sum(relative_entropy(self.X.mean(axis=0), c) for c in C)

    def centers(self, labels, C, A):
        overall = self.PULL * self.X.mean(axis=0)
        return np.array(
            [(self.X[labels == h].sum(axis=0) + overall) / ((labels == h).sum() + self.PULL) for h in range(self.k)]
        )


class WeightedCosineHMRF(CosineHMRF):
    """Weights have a prior of three tenths of the distortion from one center; centered rows give Pearson's distance."""

    def __init__(self, X, k, must, cannot, *, centered=False):
        X = np.asarray(X, float)
        super().__init__(X - X.mean(axis=1, keepdims=True) if centered else X, k, must, cannot)
        self.top = 2.0 if centered else self.top
        d = self.X.shape[1]
        unit = np.array([x / np.sqrt(x @ x) for x in self.X])
        self.strength = 0.3 * sum(cosine(x, unit.sum(axis=0)) for x in self.X) / d

    def sample_cost(self, i, h, C, A):
        return weighted_cosine(self.X[i], C[h], np.diag(A[0]))

    def must_cost(self, i, j, a, b, C, A):
        return weighted_cosine(self.X[i], self.X[j], np.diag(A[0]))

    def cannot_cost(self, i, j, a, C, A):
        return self.top - weighted_cosine(self.X[i], self.X[j], np.diag(A[0]))

    def rest(self, C, A):
        return rayleigh(np.diag(A[0]), self.strength)

    def centers(self, labels, C, A):
        """The directions of least cost: sums of rows whose length under the weights is 1."""
        size = [np.sqrt(x @ A[0] @ x) for x in self.X]
        sums = [sum(self.X[i] / size[i] for i in range(len(labels)) if labels[i] == h) for h in range(self.k)]
        return np.array([s / np.sqrt(s @ s) for s in sums])


class WeightedEntropyHMRF(EntropyHMRF):
    def __init__(self, X, k, must, cannot):
        super().__init__(X, k, must, cannot)
        overall = self.X.mean(axis=0)
        self.strength = 0.3 * sum(relative_entropy(x, overall) for x in self.X) / self.X.shape[1]

    def apart(self, i, j, a):
        mean = (self.X[i] + self.X[j]) / 2
        return weighted_entropy(self.X[i], mean, a) + weighted_entropy(self.X[j], mean, a)

    def sample_cost(self, i, h, C, A):
        return weighted_entropy(self.X[i], C[h], np.diag(A[0]))

    def must_cost(self, i, j, a, b, C, A):
        return self.apart(i, j, np.diag(A[0]))

    def cannot_cost(self, i, j, a, C, A):
        return 2 * np.log(2) * max(x @ np.diag(A[0]) for x in self.X) - self.apart(i, j, np.diag(A[0]))

    def rest(self, C, A):
        a = np.diag(A[0])
        pull = self.PULL * sum(weighted_entropy(self.X.mean(axis=0), c, a) for c in C)
        return pull + rayleigh(a, self.strength)


class MK(HMRF):
    """Statements shape the metric; samples go to the nearest center."""

    def best_labels(self, C, A, before=None):
        k, n = self.k, len(self.X)
        labels = np.array([min(range(k), key=lambda h: self.sample_cost(i, h, C, A)) for i in range(n)])
        return labels, self.objective(labels, C, A)


class CVQE(Definition):
    def sample_cost(self, i, h, C, A):
        return squared(self.X[i], C[h]) / 2

    def must_cost(self, i, j, a, b, C, A):
        return squared(C[a], C[b]) / 2

    def nearest(self, a, C):
        return min((h for h in range(self.k) if h != a), key=lambda h: squared(C[a], C[h]))

    def cannot_cost(self, i, j, a, C, A):
        return squared(C[a], C[self.nearest(a, C)]) / 2

    def centers(self, labels, C, A):
        """Normal equations of the objective, with the nearest other centers as they were."""
        M = np.diag([float((labels == h).sum()) for h in range(self.k)])
        for a, b, w in self.drawn(labels, C):
            M[a, a] += w
            M[b, b] += w
            M[a, b] -= w
            M[b, a] -= w
        return np.linalg.solve(M, np.array([self.X[labels == h].sum(axis=0) for h in range(self.k)]))

    def drawn(self, labels, C):
        out = [(labels[i], labels[j], w) for i, j, w in self.must if labels[i] != labels[j]]
        return out + [(labels[i], self.nearest(labels[i], C), w) for i, j, w in self.cannot if labels[i] == labels[j]]


class PrintedCVQE(CVQE):
    def centers(self, labels, C, A):
        out = []
        for h in range(self.k):
            total, count = self.X[labels == h].sum(axis=0), float((labels == h).sum())
            for a, b, w in self.drawn(labels, C):
                if a == h:
                    total, count = total + w * C[b], count + w
            out.append(total / count)
        return np.array(out)


class LCVQE(Definition):
    def sample_cost(self, i, h, C, A):
        return squared(self.X[i], C[h]) / 2

    def must_cost(self, i, j, a, b, C, A):
        return (squared(self.X[i], C[b]) + squared(self.X[j], C[a])) / 4

    def payer(self, i, j, a, C):
        r = i if squared(self.X[i], C[a]) >= squared(self.X[j], C[a]) else j
        return r, min((h for h in range(self.k) if h != a), key=lambda h: squared(self.X[r], C[h]))

    def cannot_cost(self, i, j, a, C, A):
        r, v = self.payer(i, j, a, C)
        return squared(self.X[r], C[v]) / 2

    def centers(self, labels, C, A):
        total = np.array([self.X[labels == h].sum(axis=0) for h in range(self.k)])
        count = np.array([float((labels == h).sum()) for h in range(self.k)])
        for i, j, w in self.must:
            if labels[i] != labels[j]:
                for sample, h in ((j, labels[i]), (i, labels[j])):
                    total[h] += w / 2 * self.X[sample]
                    count[h] += w / 2
        broken = [(i, j, w) for i, j, w in self.cannot if labels[i] == labels[j]]
        for i, j, w in broken:
            r, v = self.payer(i, j, labels[i], C)
            total[v] += w * self.X[r]
            count[v] += w
        wanted = total / count[:, None]
        for halvings in range(6 if broken else 1):
            trial = C + (wanted - C) / 2**halvings
            if not broken or self.objective(labels, trial) <= self.objective(labels, C):
                return trial
        return C


def mk_means_by_definition(X, k, must, cannot, start, steps=300):
    """MK-Means with a weight per feature, to its end: nearest centers, means, weights, again.

    Return ``(objective, labels)`` after each assignment, up to the one that repeats labels and weights, the third one
    of the same labels, or ``steps``; None where a cluster is left empty, about which the paper says nothing.
    """
    X, n = np.asarray(X, float), len(X)
    ridge, far = 1e-3 * X.var(axis=0), X[:, None] - X[None]
    links = [
        (np.array([(i, j) for i, j, _ in kind]).reshape(-1, 2), np.array([w for *_, w in kind]))
        for kind in (must, cannot)
    ]
    (ml, wm), (cl, wc) = links

    def broken(labels):
        return wm * (labels[ml[:, 0]] != labels[ml[:, 1]]), wc * (labels[cl[:, 0]] == labels[cl[:, 1]])

    def objective(labels, C, a):
        m, c = broken(labels)
        fit = ((X - C[labels]) ** 2 @ a).sum() + n * (ridge @ a - np.log(a).sum())
        charge = m @ ((X[ml[:, 0]] - X[ml[:, 1]]) ** 2 @ a)
        return fit + charge + c @ ((far**2 @ a).max() - (X[cl[:, 0]] - X[cl[:, 1]]) ** 2 @ a)

    C, a, path, counts = np.asarray(start, float), np.ones(X.shape[1]), [], {}
    settled = False
    for _ in range(steps):
        labels = ((X[:, None] - C[None]) ** 2 @ a).argmin(axis=1)
        if len(set(labels.tolist())) < k:
            return None
        path.append((objective(labels, C, a), labels))
        same = len(path) > 1 and (labels == path[-2][1]).all()
        if same and settled:
            break
        counts[labels.tobytes()] = counts.get(labels.tobytes(), 0) + (not same)
        if counts[labels.tobytes()] == 3:
            break
        C = np.array([X[labels == h].mean(axis=0) for h in range(k)])
        m, c = broken(labels)
        i, j = np.unravel_index((far**2 @ a).argmax(), (n, n))
        S = ((X - C[labels]) ** 2).sum(axis=0) + m @ (X[ml[:, 0]] - X[ml[:, 1]]) ** 2
        S += c @ ((X[i] - X[j]) ** 2 - (X[cl[:, 0]] - X[cl[:, 1]]) ** 2)
        wanted, now, before = n / (np.maximum(S, 0.0) + n * ridge), objective(labels, C, a), a
        for halvings in range(6 if cannot else 1):
            trial = before + (wanted - before) / 2**halvings
            if not cannot or objective(labels, C, trial) <= now:
                a = trial
                break
        settled = (np.abs(a - before) <= 1e-4 * before.max()).all()
    return path


def descend_by_definition(own, links, order, labels):
    """Sweep over all nodes in order, each to its best label while the others stay, until a sweep moves none.

    ``links`` are ``(u, v, table)`` with ``table[a][b]`` the charge for label ``a`` at ``u`` and ``b`` at ``v``.
    """
    labels, moved = list(labels), True
    while moved:
        moved = False
        for u in order:
            cost = [float(own[u][a]) for a in range(len(own[u]))]
            for x, y, table in links:
                for a in range(len(cost)):
                    cost[a] += table[a][labels[y]] if x == u else table[labels[x]][a] if y == u else 0.0
            best = min(range(len(cost)), key=lambda a: cost[a])
            if cost[best] < cost[labels[u]]:
                labels[u], moved = best, True
    return labels


def energy_by_definition(own, links, labels):
    return sum(own[u][a] for u, a in enumerate(labels)) + sum(t[labels[u]][labels[v]] for u, v, t in links)


def least_energy(own, links):
    n, k = len(own), len(own[0])
    return min(energy_by_definition(own, links, labels) for labels in product(range(k), repeat=n))


def believe_by_definition(own, links, rounds, trees):
    """Min-sum messages, all sent at once: beliefs of nodes; ``trees`` has the nodes whose part has no cycle.

    Half of a message stays where a part has cycles. Messages are given from their least value.
    """
    n, k = len(own), len(own[0])
    message = {(u, v): [0.0] * k for u, v, _ in links} | {(v, u): [0.0] * k for u, v, _ in links}
    table = {(u, v): t for u, v, t in links} | {(v, u): np.transpose(t).tolist() for u, v, t in links}

    def belief(u, without=None):
        into = [(x, y) for x, y in message if y == u and x != without]
        return [own[u][a] + sum(message[edge][a] for edge in into) for a in range(k)]

    for _ in range(rounds):
        sent = {}
        for u, v in message:
            known = belief(u, v)
            out = [min(known[a] + table[u, v][a][b] for a in range(k)) for b in range(k)]
            kept = 0.0 if u in trees else 0.5
            sent[u, v] = [kept * old + (1 - kept) * (x - min(out)) for old, x in zip(message[u, v], out, strict=True)]
        message = sent
    return [belief(u) for u in range(n)]


def relax_by_definition(own, links):
    """The least value of the linear program over pairwise marginals, written out constraint by constraint."""
    from scipy.optimize import linprog

    n, k = len(own), len(own[0])
    names = [(u, a) for u in range(n) for a in range(k)]
    names += [(q, a, b) for q in range(len(links)) for a in range(k) for b in range(k)]
    at = {name: i for i, name in enumerate(names)}
    cost, bounds, rows, right = np.zeros(len(names)), [(0, 1)] * len(names), [], []
    for u in range(n):
        for a in range(k):
            cost[at[u, a]] = own[u][a]
    for q, (_, _, table) in enumerate(links):
        for a in range(k):
            for b in range(k):
                if np.isinf(table[a][b]):
                    bounds[at[q, a, b]] = (0, 0)
                else:
                    cost[at[q, a, b]] = table[a][b]

    def equal(terms, value):
        row = np.zeros(len(names))
        for name, factor in terms:
            row[at[name]] += factor
        rows.append(row)
        right.append(value)

    for u in range(n):
        equal([((u, a), 1) for a in range(k)], 1)
    for q, (u, v, _) in enumerate(links):
        for a in range(k):
            equal([((u, a), -1), *(((q, a, b), 1) for b in range(k))], 0)
            equal([((v, a), -1), *(((q, b, a), 1) for b in range(k))], 0)
    return linprog(cost, A_eq=np.array(rows), b_eq=right, bounds=bounds).fun
