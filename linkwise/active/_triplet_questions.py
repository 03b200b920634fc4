"""The triplet strategy: ask for the odd one of three samples, chosen by how much of the tree an answer settles."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.active import _kernels_placing as kernels
from linkwise.active._placed_tree import Skeleton
from linkwise.active._query import TRIO_ANSWERS, Answer, Told
from linkwise.active._strategy import Inquiry, Items, TrioStrategy
from linkwise.active._strategy_view import Scene
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem import LiveTriplets

SHARPEST = 2.0 ** np.arange(8)  # how steeply likeness falls with distance, in medians of the squared distances
BLENDS = (0.2, 0.5, 0.8)  # how much of a leaf's likeness is that of the clades around it
STEP = 32  # samples that are looked at for the first time with every question
KEPT_ROWS = 256
KEPT_STATES = 64  # answers that can be taken back at once without starting over
LEARNERS = 48  # leaves that sharpness and blend are learned from
WAIT = 0.2  # a sample stays open while a question about it brings more than this share of what questions bring


class State(NamedTuple):
    """The tree so far and the results of the questions, immutable."""

    tree: Skeleton
    near: FloatArray  # squared distance of each sample to the nearest one in the tree
    rates: FloatArray  # how many stayed, of how many: beside a leaf, below a node, on the edge above a node
    sharp: float
    blend: float
    tuned: int  # leaves there were when sharpness and blend were learned
    pace: float  # what questions brought lately
    surprise: Told | None  # the last answer, if it was so unlikely that it should be asked for again


class Judgment(NamedTuple):
    """Beliefs about one sample: probabilities of places, the risk, and the question that lowers it most."""

    edge: FloatArray
    node: FloatArray
    risk: float = 0.0
    gain: float = 0.0
    first: int = -1
    second: int = -1


class PlacingTrios(TrioStrategy):
    """Ask where samples hang in a growing tree: which one of a sample and two placed ones is the odd one out.

    Samples that stand for many are placed first. What is known of the others by their distances makes a guess, and the
    question asked is the one whose answer is expected to correct most triplets. A sample joins the tree when the next
    question about it would bring less than a fifth of what questions bring on average; it may be asked about again.

    Parameters
    ----------
    worth : float, default=0.002
        Ask no more when the best question is expected to change less than this share of what the hierarchy says about
        one sample.
    slip : float, default=0.001
        How likely an answer is wrong, for what is guessed from it.
    check : float, default=0.0
        Ask a question again at once if the answer was thought less likely than this; for people who err. Of two
        different answers the later one is trusted.

    Notes
    -----
    "Unsure" is read as "the three meet at one node", as far as guesses go; as a statement it says nothing.

    **Cost** O(a (n d + m)) per question, for n samples, m of them in the tree, and some a = 32 candidates, without any
    n x n matrix. **Guarantee** never a trio that was answered or whose answer is implied; the same answers lead to the
    same question. When answers turn out to contradict others, the tree is built again from those trusted.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Taxonomy
    >>> from linkwise.active import Dialogue, PlacingTrios, TreeAnswerer
    >>> X = np.array([[0.0], [0.3], [1.0], [9.0], [9.4], [12.0]])
    >>> says = TreeAnswerer(Taxonomy.from_paths(["a/b", "a/b", "a", "c/d", "c/d", "c"]))
    >>> talk = Dialogue(X, strategy=PlacingTrios(), budget=4)
    >>> while (query := talk.ask()) is not None:
    ...     talk.tell(query, says(query))
    >>> talk.fit().dendrogram_.n_samples
    6
    """

    def __init__(self, *, worth: float = 0.002, slip: float = 0.001, check: float = 0.0) -> None:
        for name, value, least, most in (
            ("worth", worth, 1e-9, 1.0),
            ("slip", slip, 1e-9, 0.5),
            ("check", check, 0, 1),
        ):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
                msg = f"PlacingTrios: {name} is {value!r}, expected a number from {least:g} to {most:g}."
                raise LinkwiseError(msg)
        self.worth, self.slip, self.check = float(worth), float(slip), float(check)

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Placing(scene, self.worth, self.slip, self.check)


class _Placing(Inquiry):
    """Build the tree so far from the trusted answers alone; questions in between play no role."""

    in_bulk = True

    def __init__(self, scene: Scene, worth: float, slip: float, check: float) -> None:
        super().__init__(scene)
        self._worth, self._slip, self._check = worth, slip, check
        self._proposed: Items | None = None
        self._expected = 0.0
        self._calm: float | None = None
        self._fresh = True
        # What was computed outlives the inquiry, as taking an answer back makes a new one.
        self._rows: dict[int, FloatArray] = scene.once("placing rows", dict)
        self._past: list[tuple[Told, State | None]] = scene.once(("placing past", worth, slip, check), list)
        if scene.n_samples > 2:
            self._begin()

    # -- what a dialogue calls ----------------------------------------------------------------------------------

    def learn(self, items: Items, answer: Answer) -> None:  # noqa: ARG002 - all answers stand in scene.known
        """Note that there is an answer more; it is read when the next question is wanted."""
        self._fresh = True

    def reread(self) -> None:
        """Choose again."""
        self._fresh = True

    def propose(self) -> Items | None:
        """Return the trio whose answer is expected to correct most triplets."""
        if self._fresh:
            self._fresh = False
            if self.scene.n_samples > 2:
                self._catch_up()
                again = self._state.surprise
                held = again is not None and again.items in self.scene.known.held
                self._proposed = self._choose() if again is None or held else again.items
        return self._proposed

    def checks(self) -> Items:
        """Return the answer that was so unlikely that its question comes again."""
        again = self._state.surprise if self.scene.n_samples > 2 else None
        return () if again is None or again.items != self._proposed else (again.number,)

    def gain(self) -> float | None:
        """Return the share of all triplets that the next answer is expected to correct."""
        self.propose()
        return self._expected

    def believed(self) -> float | None:
        """Return the share of the hierarchy that is probably right, judged by the samples examined last."""
        self.propose()
        return self._calm

    def guesses(self) -> Constraints:
        """Return triplets that are believed: the places of the samples asked about, each as a soft statement.

        They hold together with all that is known. An estimator told them, too, has more to go by, above all where
        answers were "unsure".
        """
        self.propose()
        n = self.scene.n_samples
        live = LiveTriplets(n)
        said = self.scene.known.constraints
        live.add_many(said.of(Kind.TRIPLET))
        rows = [row for row in self._tree.believed().tolist() if live.add(*row)] if n > 2 else []
        return Constraints.build(n, triplets=rows, weight=1.0)

    # -- the tree is a fold of the answers -------------------------------------------------------------------------

    def _begin(self) -> None:
        """Join two samples that stand for many."""
        a, b, self._unit, self._order = self.scene.once("placing start", self._start)
        self._folded: list[Told] = []
        self._said: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        rates = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
        self._state = State(
            Skeleton.of_two(a, b), np.minimum(self._row(a), self._row(b)), rates, 4.0, 0.5, 6, 0.0, None
        )

    @property
    def _tree(self) -> Skeleton:
        return self._state.tree

    def _start(self) -> tuple[int, int, float, IntArray]:
        """Find two samples that stand for many, and the unit of distance, by looking at a few."""
        order = self.scene.rng(3).permutation(self.scene.n_samples)
        few = np.sort(order[:64])
        rows = np.array([self._row(int(i)) for i in few])
        a = int(rows.sum(axis=1).argmin())
        b = int(np.where(np.arange(len(few)) == a, -1.0, np.maximum(rows[a] - rows, 0.0).sum(axis=1)).argmax())
        unit = float(np.median(rows[rows > 0])) if (rows > 0).any() else 1.0
        return int(few[a]), int(few[b]), unit, order

    def _catch_up(self) -> None:
        known = self.scene.known
        trusted = {told.number for told in known.trusted}
        answers = [
            told
            for told in known.answers
            if len(told.items) == 3 and (told.answer is Answer.UNSURE or told.number in trusted)
        ]
        if answers[: len(self._folded)] != self._folded:
            self._begin()
        past, done = self._past, len(self._folded)
        same = 0
        while same < min(len(past), len(answers)) and past[same][0] == answers[same]:
            same += 1
        kept = next((k for k in range(same, done, -1) if past[k - 1][1] is not None), done)
        if kept > done:
            for told in answers[done:kept]:
                self._note(told)
            self._state = past[kept - 1][1] or self._state
        del past[kept:]
        for told in answers[kept:]:
            self._fold(told)
            past.append((told, self._state))
            if len(past) > KEPT_STATES:
                past[-KEPT_STATES - 1] = (past[-KEPT_STATES - 1][0], None)

    def _note(self, told: Told) -> None:
        """Write an answer down for each of the three samples."""
        self._folded.append(told)
        odd = TRIO_ANSWERS.index(told.answer)
        for at, i in enumerate(told.items):
            one, two = (at + 1) % 3, (at + 2) % 3
            says = {at: kernels.SAMPLE_ODD, one: kernels.WITH_SECOND, two: kernels.WITH_FIRST}
            self._said[i].append((told.items[one], told.items[two], says.get(odd, kernels.NONE_ODD)))

    def _fold(self, told: Told) -> None:
        """Process an answer and place the sample it is about: the one outside the tree, if there is one."""
        self._state = self._state._replace(surprise=None)
        absent = [i for i in told.items if i not in self._tree.node_of]
        if told.checks or len(absent) > 1:
            self._note(told)
            return
        about = absent[0] if absent else -1
        if not absent:  # it was the best question about one of them, so that one is placed
            judged = {i: self._judge(i) for i in told.items}
            about = max(told.items, key=lambda i: (self._trio(i, judged[i]) == told.items, judged[i].gain))
        before = self._judge(about)
        self._note(told)
        a, b, said = self._said[about][-1]
        unlikely = self._hear(before, a, b, said) < self._check and told.answer is not Answer.UNSURE
        pace = self._state.pace + (before.gain - self._state.pace) / min(len(self._folded), 10)
        self._state = self._state._replace(pace=pace, surprise=told if unlikely else None)
        self._settle(about)

    def _settle(self, sample: int) -> None:
        """Put a sample where it most likely hangs, unless it is worth another question."""
        if sample in self._tree.node_of:
            if len(self._tree.samples) < 4:
                return
            self._state = self._state._replace(tree=self._tree.without(sample))
        found = self._judge(sample)
        enough = max(WAIT * self._state.pace, self._worth)
        if found.gain > enough and not self._is_told(self._trio(sample, found)):
            return
        v, w = int(found.edge.argmax()), int(found.node.argmax())
        on_edge = bool(found.edge[v] >= found.node[w])
        tree = self._tree.on_edge(v, sample) if on_edge else self._tree.below(w, sample)
        near = np.minimum(self._state.near, self._row(sample))
        self._state = self._state._replace(tree=tree, near=near, rates=self._count(sample, v if on_edge else w, found))
        if len(tree.samples) >= 1.2 * self._state.tuned:
            self._tune()

    def _is_told(self, trio: Items) -> bool:
        """Whether one of the answers read so far is about these three."""
        sample, *others = trio
        return any({a, b} == set(others) for a, b, _ in self._said[sample])

    def _count(self, sample: int, place: int, found: Judgment) -> FloatArray:
        """Learn how far up from a similar leaf samples hang, by the chances that the answers left."""
        tree = self._tree
        inside = tree.samples[tree.begin[place] : tree.end[place]]
        v = tree.node_of[int(inside[self._row(sample)[inside].argmin()])]
        levels = 1
        while v != place:
            v = int(tree.parent[v])
            levels += 1
        beside, below = float(found.edge[tree.leaf].sum()), float(found.node.sum())
        trials = (1.0 - beside) * max(levels - 1, 1)
        seen = [[beside, 1.0], [below, trials], [1.0 - beside - below, trials - below]]
        rates: FloatArray = self._state.rates + np.array(seen)
        return rates

    def _tune(self) -> None:
        """Learn how sharply likeness falls and how much clades count: each leaf should find its siblings."""
        tree, m = self._tree, len(self._tree.samples)
        chosen = self.scene.rng(4, m).permutation(m)[:LEARNERS]
        up = tree.parent[tree.leaf]
        best = -np.inf
        rates = np.array([1.0, 0.5, 0.5])
        near = [-self._row(int(tree.samples[i]))[tree.samples] / self._unit for i in chosen]
        for blend in BLENDS:
            for sharp in SHARPEST.tolist():
                found = 0.0
                for i, alike in zip(chosen.tolist(), near, strict=True):
                    edge, _ = self._guess(alike * sharp, int(tree.leaf[i]), blend, rates)
                    found += np.log(1e-3 + edge[up[i] : tree.last[up[i]]].sum())
                if found > best:
                    best = found
                    self._state = self._state._replace(blend=blend, sharp=sharp, tuned=m)

    # -- what is thought about a sample -----------------------------------------------------------------------------

    def _row(self, sample: int) -> FloatArray:
        """Return squared distances from a sample, or values in their place."""
        row = self._rows.get(sample)
        if row is None:
            while len(self._rows) >= KEPT_ROWS:
                del self._rows[next(iter(self._rows))]
            row = self.scene.distances_from(sample)
            self._rows[sample] = row = row if self.scene.metric == "cosine" else row * row
        return row

    def _guess(self, alike: FloatArray, own: int, blend: float, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        tree = self._tree
        found: tuple[FloatArray, FloatArray] = kernels.guess(
            alike, tree.parent, tree.leaf, tree.begin, tree.end, own, blend, rates
        )
        return found

    def _judge(self, sample: int) -> Judgment:
        tree, state = self._tree, self._state
        own = tree.node_of.get(sample, -1)
        alike = self._row(sample)[tree.samples] * (-state.sharp / self._unit)
        edge, node = self._guess(alike, own, state.blend, state.rates[:, 0] / state.rates[:, 1])
        for a, b, said in self._said.get(sample, ()):
            if a in tree.node_of and b in tree.node_of:
                kernels.hear(edge, node, tree.parent, tree.last, tree.node_of[a], tree.node_of[b], said, self._slip)
        return Judgment(edge, node, *kernels.best_question(edge, node, tree.parent, tree.begin, tree.end, own))

    def _hear(self, found: Judgment, a: int, b: int, said: int) -> float:
        """Correct chances by an answer about a sample and the leaves of two others; return how likely it was."""
        tree = self._tree
        one, two = tree.node_of[a], tree.node_of[b]
        return float(kernels.hear(found.edge, found.node, tree.parent, tree.last, one, two, said, self._slip))

    # -- the next question --------------------------------------------------------------------------------------

    def _choose(self) -> Items | None:
        """Look at the next samples in line and at those begun; at all of them before giving up."""
        n, at = self.scene.n_samples, STEP * len(self._folded)
        begun = [i for i in self._said if i not in self._tree.node_of][-STEP:]
        for start in range(at, at + n, 2 * STEP):
            line = self._order[np.arange(start, min(start + 2 * STEP, at + n)) % n].tolist()
            found = self._best_of(list(dict.fromkeys(begun + line)))
            if found is not None:
                return found
            begun = []
        self._expected, self._calm = 0.0, 1.0
        return None

    def _best_of(self, samples: list[int]) -> Items | None:
        judged = [self._judge(i) for i in samples]
        gain = np.array([found.gain for found in judged])
        self._calm = 1.0 - float(np.mean([found.risk for found in judged]))
        near = self._state.near
        scale = max(float(near.mean()), np.finfo(float).tiny)
        weight = np.array([1.0 + np.maximum(near - self._row(i), 0.0).sum() / scale for i in samples])
        for k in np.argsort(-gain * weight, kind="stable"):
            if gain[k] < self._worth:
                continue
            trio = self._trio(samples[k], judged[k])
            if not self.scene.known.decides(trio):
                self._expected = float(min(gain[k] * weight[k] / self.scene.n_samples, 1.0))
                return trio
        return None

    def _trio(self, sample: int, found: Judgment) -> Items:
        if found.first < 0:
            return ()
        return tuple(sorted((sample, self._nearest(sample, found.first), self._nearest(sample, found.second))))

    def _nearest(self, sample: int, v: int) -> int:
        inside = self._tree.samples[self._tree.begin[v] : self._tree.end[v]]
        inside = inside[inside != sample]
        return int(inside[self._row(sample)[inside].argmin()])
