"""The expected-gain strategy: place the sample whose neighborhood settles the most other samples per question."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise.active._doubts import NOISE, Doubt, Doubts, Evidence
from linkwise.active._kernels_gain import settle
from linkwise.active._placing_strategy import Placing
from linkwise.active._strategy import Inquiry, Items, Strategy
from linkwise.active._strategy_view import Scene
from linkwise.engines.graph import Field

CANDIDATES = 200  # samples considered for the next question
LITTLE = 1e-3  # an answer that settles less than this share of the samples is hardly worth it
RARE = 0.02  # answers less likely than this are not thought through


class ExpectedGain(Strategy):
    """Ask where the answer is expected to settle most of the samples; needs no number of clusters.

    Parameters
    ----------
    n_candidates : int, default=200
        Samples, drawn by chance, among which the next one to ask about is looked for.
    check : float, default=0.02
        Answers more probably wrong than this, judged by the others, may be checked; 1 for never.

    Notes
    -----
    What is known so far claims every sample with some strength, as in `NeighborhoodPropagation`: p for each
    neighborhood, and the rest for one not met yet. Suppose a candidate were placed: each outcome, with its
    probability, would change the claims on all samples, and with them the sum of the strongest claims, which is about
    the number of samples settled. The candidate with the greatest expected increase per question it is expected to take
    is placed next: it is compared with the first sample of the neighborhood that claims it most, then of the next,
    until a yes, or until all said no and it starts a neighborhood of its own. So exploring and refining compete in
    the same units, and a typical sample of a large unexplored region wins before an odd one.

    With a number of clusters (``Dialogue(n_clusters=...)``) a sample that differs from all neighborhoods but one
    belongs there without a question, once that many are found. Finding them competes with the rest all the same:
    looking for them first costs more than it brings.

    An answer is checked by a question about other members of the same groups. It comes when the chance that the answer
    is wrong, times the samples that would then go elsewhere, exceeds the expected gain of the next sample: a lone "no"
    that opens a cluster is soon asked about again, and one of many answers that say the same never.

    Looking one answer ahead with Gaussian fields is due to [1]_; pairs in the place of labels, the open class, and the
    cost in questions are ours.

    What a dialogue shows comes from the same figures: the share believed is the mean of the strongest claims, which on
    easy data is too modest (0.6 to 0.8 where 90 % are right) and with many small classes at first too bold; the number
    of further answers is right within a factor of two or three.

    **Cost** at first that of `Field` and one solution per candidate; then for each question O(n c k) for c candidates
    and k neighborhoods. **Guarantee** neighborhoods are pairwise cannot-linked; none beyond those of every strategy.

    References
    ----------
    .. [1] X. Zhu, J. Lafferty, Z. Ghahramani, "Combining Active Learning and Semi-Supervised Learning Using Gaussian
       Fields and Harmonic Functions", ICML 2003 workshop on the continuum from labeled to unlabeled data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise.active import Dialogue, ExpectedGain, LabelAnswerer
    >>> X, y = load_iris(return_X_y=True)
    >>> talk, says = Dialogue(X, strategy=ExpectedGain(), budget=20), LabelAnswerer(y)
    >>> while (query := talk.ask()) is not None:
    ...     talk.tell(query, says(query))
    >>> talk.fit().n_clusters_
    3
    """

    def __init__(self, n_candidates: int = CANDIDATES, check: float = 0.02) -> None:
        self.n_candidates = n_candidates
        self.check = check

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Gaining(scene, self.n_candidates, self.check)

    def companion(self) -> Any:
        """Return the engine that this strategy thinks with."""
        from linkwise.engines import NeighborhoodPropagation

        return NeighborhoodPropagation()


class _Gaining(Placing):
    def __init__(self, scene: Scene, n_candidates: int, check: float) -> None:
        super().__init__(scene, scene.n_clusters)
        self._n_candidates = n_candidates
        self._rows: list[FloatArray] = []  # row i: what placing the i-th sample told about all, scaled to variance 1
        self._order: list[int] = []  # the samples placed, in the order of those rows
        self._candidates: IntArray = np.zeros(0, dtype=np.intp)
        self._covariance = np.zeros((0, scene.n_samples))  # of candidates with all samples, given those placed
        self._expected: float | None = None
        self._check = check
        self._doubt: Doubt | None = None

    def propose(self) -> Items | None:
        """Return a question that checks an answer, if that is worth more than the one that places a sample."""
        self._read()
        self._doubt = None
        loose = bool(self.loose)
        found = super().propose()
        if found is None:
            self._expected = 0.0
        if self._order and self._check < 1 and (found is None or not loose):
            columns = np.stack(self._columns(self._order))
            owner = np.array([self._owner[sample] for sample in self._order], dtype=np.intp)
            evidence = Evidence(self._order, owner, columns, self._claims)
            gain = self.scene.n_samples * (self._expected or 0.0)
            self._doubt = Doubts(self.scene.known, evidence, self._place_of, self._check).best(gain)
        return found if self._doubt is None else self._doubt.pair

    def checks(self) -> Items:
        """Return the answers that the question checks."""
        return () if self._doubt is None else self._doubt.numbers

    # -- what Placing asks for ----------------------------------------------------------------------------------

    def pick(self) -> int | None:
        """Choose the candidate with the greatest expected gain per question."""
        claims, (p, new) = self._claims, self._chances
        among = self._among()
        variance = self._covariance[np.arange(len(among)), among]
        step = self._covariance / (variance + NOISE)[:, None]
        chance = np.column_stack([p[among], new[among]])
        gain = np.empty(len(among))
        with Workers() as workers:
            workers.over(settle, len(gain), claims.size, claims, step, claims[among], chance, RARE, gain)
        gain /= _questions(p[among], new[among])
        best = int(gain.argmax())
        self._expected = max(float(gain[best]), 0.0) / self.scene.n_samples
        return int(among[best])

    def order(self, sample: int) -> list[int]:
        return [self.skeleton[at] for at in np.argsort(-self._claims[sample], kind="stable")]

    def representative(self, sample: int, group: int) -> int:
        """The first member that this sample was not compared with: the others hang on it, and one error stays one."""
        known = self.scene.known
        members = known.members(group)
        return next((m for m in members if not known.is_told((sample, m))), members[0])

    # -- what a dialogue shows ----------------------------------------------------------------------------------

    def gain(self) -> float | None:
        return self._expected

    def believed(self) -> float | None:
        self._read()
        strongest = self._chances[0].max(axis=1, initial=0.0)
        strongest[self.placed] = 1.0
        return float(strongest.mean())

    def more(self) -> int | None:
        gain, believed = self.gain(), self.believed()
        if gain is None or believed is None:
            return None
        if gain <= LITTLE:
            return 0
        # gains that fall off evenly until half of what is open is settled come down to "little" after these answers;
        # the other half stays open: samples between clusters
        return int(np.ceil(0.5 * (1.0 - believed) / gain * np.log(gain / LITTLE)))

    # -- the steps ----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        if self._read_at == len(self.scene.known.answers):
            return
        super()._read()
        if not self.scene.known.groups() and self.scene.n_samples > 1:
            self.skeleton = [self._most_typical()]
            self.placed = list(self.skeleton)
            self.free[:] = True
            self.free[self.placed] = False
        self._place()
        self._claims = self._claim()
        p = np.maximum(self._claims, 0.0)
        total = p.sum(axis=1, keepdims=True)
        if len(self.skeleton) == self.n_clusters:  # no sample can belong elsewhere
            p = np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / max(p.shape[1], 1))
        else:
            p /= np.maximum(total, 1.0)
        self._chances = p, np.maximum(1.0 - p.sum(axis=1), 0.0)

    def _field(self) -> Field:
        cosine = self.scene.metric == "cosine"
        return self.scene.once("field", lambda: Field(self.scene.X, cosine=cosine))

    def _columns(self, samples: list[int]) -> list[FloatArray]:
        """Columns of the field, each computed once."""
        kept: dict[int, FloatArray] = self.scene.once("columns", dict)
        missing = [sample for sample in samples if sample not in kept]
        if missing:
            kept.update(zip(missing, np.ascontiguousarray(self._field().columns(np.array(missing)).T), strict=True))
        return [kept[sample] for sample in samples]

    def _place(self) -> None:
        """Add samples placed since, one row each; start again if one is not placed any more."""
        if not set(self._order) <= set(self.placed):
            self._forget()
        for sample in [sample for sample in self.placed if sample not in set(self._order)]:
            left = self._given(sample)
            row = left / np.sqrt(left[sample] + NOISE)
            self._covariance -= np.outer(row[self._candidates], row)
            self._rows.append(row)
            self._order.append(sample)

    def _forget(self) -> None:
        self._order, self._rows = [], []
        self._candidates = self._candidates[:0]
        self._covariance = self._covariance[:0]

    def _given(self, sample: int) -> FloatArray:
        """Covariances of a sample with all, given those placed."""
        (column,) = self._columns([sample])
        if not self._rows:
            return column.copy()
        rows = np.stack(self._rows)
        return np.asarray(column - rows[:, sample] @ rows)

    def _claim(self) -> FloatArray:
        """Claims of the skeleton on all samples: 1 on their own members, 0 on those of the others."""
        known = self.scene.known
        place = {group: at for at, group in enumerate(self.skeleton)}
        self._place_of = place | {group: place[other] for group, other in self.implied.items()}
        self._owner = {sample: at for group, at in self._place_of.items() for sample in known.members(group)}
        if not self._rows:
            return np.zeros((self.scene.n_samples, len(self.skeleton)))
        rows, order = np.stack(self._rows), self._order
        goal = np.zeros((len(order), len(self.skeleton)))
        goal[np.arange(len(order)), [self._owner[sample] for sample in order]] = 1.0
        lower = np.tril(rows[:, order].T, -1)
        on = rows[np.arange(len(order)), order]
        np.fill_diagonal(lower, (on + np.sqrt(on**2 + 4 * NOISE)) / 2)  # what each row was divided by
        return np.asarray(rows.T @ solve_triangular(lower, goal, lower=True))

    def _among(self) -> IntArray:
        """The candidates: those drawn first that are still free."""
        drawn = self.scene.once("drawn", lambda: self.scene.rng(4).permutation(self.scene.n_samples))
        among = drawn[self.free[drawn]][: self._n_candidates].astype(np.intp)
        self._columns(among.tolist())
        at = {int(sample): row for row, sample in enumerate(self._candidates)}
        rows = [self._covariance[at[s]] if s in at else self._given(s) for s in among.tolist()]
        self._candidates, self._covariance = among, np.stack(rows)
        return among

    def _most_typical(self) -> int:
        """Return the candidate that is most informative about all samples."""
        self._forget()
        self.free = np.ones(self.scene.n_samples, dtype=np.bool_)
        among = self._among()
        step = self._covariance / (self._covariance[np.arange(len(among)), among] + NOISE)[:, None]
        return int(among[np.clip(step, 0.0, 1.0).sum(axis=1).argmax()])


def _questions(p: FloatArray, new: FloatArray) -> FloatArray:
    """How many questions a sample is expected to take, the likeliest neighborhood first; all of them for a new one."""
    falling = -np.sort(-p, axis=1)
    return np.asarray(np.maximum(falling @ np.arange(1.0, p.shape[1] + 1) + p.shape[1] * new, 1.0))
