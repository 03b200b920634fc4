"""`Dialogue`: it asks questions, logs the answers, and fits a clustering that respects them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from linkwise._messages import many
from linkwise._validation import is_whole, read_count
from linkwise.active._answer_log import Log, is_entry, standing
from linkwise.active._answered import Known
from linkwise.active._dialogue_progress import Mark, Progress, fall
from linkwise.active._doubts import EXPECTED_ERRORS
from linkwise.active._gain import ExpectedGain
from linkwise.active._query import TRIO_ANSWERS, Query, Told
from linkwise.active._strategy import Strategy
from linkwise.active._strategy_view import Scene, fit_to
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError


class Dialogue:
    """Ask good questions about samples, one at a time, and cluster them by the answers.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data. Not modified.
    estimator : clusterer, optional
        What turns answers into a clustering; by default what suits the strategy best.
    constraints : Constraints, optional
        What is known already: pairs, triplets and groups. Hard statements are never doubted or asked about.
    strategy : Strategy, optional
        How questions are chosen; by default `ExpectedGain`.
    n_clusters : int, optional
        How many clusters there are, if that is known. `ExpectedGain` then asks nothing that follows from the number,
        answers that need more clusters contradict each other, and the default estimator makes that many.
    budget : int, optional
        How many questions may be asked; by default there is no end but that nothing is left to ask.
    log : path, optional
        A file that every answer is written to before it counts. If it exists, the dialogue goes on where it ended.
    names : sequence, optional
        What people call the samples, for the wording of questions; by default the identifiers of ``constraints``, if
        there are any, or row numbers.
    metric : {"euclidean", "cosine"}, optional
        How strategies compare samples; by default cosine for sparse X, else Euclidean.
    random_state : int, default=0
        Seed of everything left to chance.

    Attributes
    ----------
    answers : list of Told
        Answers given and not taken back, in order.
    known : Known
        What they say and imply.

    Notes
    -----
    The state is a fold of the log: the same answers lead to the same questions, in this process or another. Nothing
    waits for an answer; between `ask` and `tell` the program may end. Taking an answer back adds an entry that says so.
    When answers contradict each other, the fewest are distrusted that restore consistency, and each of them is asked
    about once more before anything new; `suspects` lists them.

    **Cost** that of the strategy and, for `fit`, of the estimator. **Guarantee** no question comes twice, except to
    check an answer that contradicts others; none comes whose answer follows from the trusted ones; at most ``budget``
    are asked; an acknowledged answer survives the process.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise.active import Dialogue
    >>> X, y = load_iris(return_X_y=True)
    >>> with Dialogue(X, budget=30) as talk:
    ...     while (query := talk.ask()) is not None:
    ...         a, b = query.items
    ...         talk.tell(query, y[a] == y[b])
    >>> talk.n_asked, talk.ask()
    (30, None)
    >>> talk.undo().number, talk.n_asked
    (29, 29)
    """

    def __init__(
        self,
        X: Any,
        estimator: Any = None,
        *,
        constraints: Constraints | None = None,
        strategy: Strategy | None = None,
        n_clusters: int | None = None,
        budget: int | None = None,
        log: str | Path | None = None,
        names: Sequence[Any] | None = None,
        metric: Literal["euclidean", "cosine"] | None = None,
        random_state: int = 0,
    ) -> None:
        self.budget = None if budget is None else read_count(budget, "budget", "Dialogue")
        seed = read_count(random_state, "random_state", "Dialogue")
        self.strategy = ExpectedGain() if strategy is None else strategy
        if not isinstance(self.strategy, Strategy):
            msg = f"Dialogue: strategy is {strategy!r}, expected one of linkwise.active, such as ExpectedGain()."
            raise LinkwiseError(msg)
        self.n_clusters = None if n_clusters is None else read_count(n_clusters, "n_clusters", "Dialogue", low=1)
        self.estimator = self.strategy.companion() if estimator is None else estimator
        self._scene = Scene(X, estimator=self.estimator, metric=metric, seed=seed, n_clusters=self.n_clusters)
        if estimator is None and self.n_clusters is not None and "n_clusters" in self.estimator.get_params():
            self.estimator.set_params(n_clusters=self.n_clusters)
        if estimator is None and "metric" in self.estimator.get_params():
            self.estimator.set_params(metric=self._scene.metric)  # both compare samples in the same way
        n = self._scene.n_samples
        self._given = Constraints.build(n) if constraints is None else constraints
        if self._given.n_samples != n:
            msg = f"Dialogue: constraints are about {self._given.n_samples:,} samples, but X has {n:,}."
            raise LinkwiseError(msg)
        self.names = self._given.ids if names is None else names
        if self.names is not None and len(self.names) != n:
            msg = f"Dialogue: there are {len(self.names):,} names, but X has {n:,} samples."
            raise LinkwiseError(msg)
        self._log = Log(log, self._header())
        self._pending: list[Query] = []  # asked since the last answer
        self._handed: dict[tuple[int, ...], Query] = {}  # asked and not answered
        self._fitted: Any = None
        self._marks: list[Mark] = []
        self._fold()

    # -- asking and telling -------------------------------------------------------------------------------------

    def ask(self, besides: Iterable[Query] = ()) -> Query | None:
        """Return the next question, or None if nothing is left to ask or the budget is used up.

        Asking again before the answer returns the same question.

        Parameters
        ----------
        besides : iterable of Query
            Questions that others are thinking about: another one is returned, and `tell` takes answers to all of them,
            in any order.

        Examples
        --------
        >>> from linkwise.active import Dialogue, RandomPairs
        >>> talk = Dialogue([[0.0], [1.0], [9.0]], strategy=RandomPairs())
        >>> first = talk.ask()
        >>> second = talk.ask(besides=[first])
        >>> talk.tell(second, "no")
        >>> talk.tell(first, "yes")
        >>> talk.n_asked
        2
        """
        held = {query.items for query in besides}
        if self.budget is not None and self.n_asked + len(held) >= self.budget:
            return None
        for asked in self._pending:
            if asked.items not in held:
                return asked
        self.known.hold(held)
        if held:
            self._inquiry.reread()
        try:
            query = self._next()
        finally:
            self.known.hold(())
            if held:
                self._inquiry.reread()
        if query is not None:
            self._pending.append(query)
            self._handed[query.items] = query
        return query

    def tell(self, query: Query | Sequence[int], answer: Any, *, confidence: float = 1.0, who: str = "") -> None:
        """Record an answer.

        Parameters
        ----------
        query : Query or sequence of int
            What `ask` returned; or two or three samples, to say something without being asked.
        answer : Answer, str, bool or None
            "yes", "no", "first", "second", "third" or "unsure"; True, False and None are yes, no and unsure. For three
            samples, the one that does not belong with the other two, as they are listed in the question.
        confidence : float, default=1.0
            How sure the person is, between 0.5 and 1; it counts when answers contradict each other.
        who : str, default=""
            Who answers, to estimate how often each person errs.
        """
        asked = isinstance(query, Query)
        if isinstance(query, Query):
            if query != self._handed.get(query.items):
                now = self._pending[0] if self._pending else None
                was = "nothing was asked" if now is None else f"the question is {now.text()!r}"
                msg = (
                    f"tell: the answer is to {query.text()!r}, but {was}.\n"
                    "Hint: query = talk.ask(); talk.tell(query, True). For any other pair: talk.tell((a, b), True)."
                )
                raise LinkwiseError(msg)
            question, said = query, query.read(answer)
        else:
            listed = [_place(i, self._scene.n_samples) for i in query]
            question = Query(tuple(listed))
            said = question.read(answer)
            if said in TRIO_ANSWERS[:3]:  # first, second and third as the caller lists them
                said = TRIO_ANSWERS[question.items.index(listed[TRIO_ANSWERS.index(said)])]
        if isinstance(confidence, bool) or not 0.5 <= confidence <= 1:
            msg = f"tell: confidence is {confidence!r}, expected a number from 0.5 (a guess) to 1 (certain)."
            raise LinkwiseError(msg)
        entry: dict[str, Any] = {"items": list(question.items), "answer": str(said)}
        if self.names is not None:  # so that the answers can be read without the data, or used with other data
            entry["names"] = [str(self.names[i]) for i in question.items]
        extra = {"confidence": float(confidence), "who": str(who), "asked": asked, "checks": list(question.checks)}
        plain = {"confidence": 1.0, "who": "", "asked": True, "checks": []}
        self._take(self._log.add_answer(entry | {name: value for name, value in extra.items() if value != plain[name]}))

    def run(self, answer: Callable[[Query], Any]) -> Self:
        """Ask until nothing is left to ask or the budget is used up, and record each answer.

        Parameters
        ----------
        answer : callable
            Gets a `Query` and returns the answer, as `tell` takes it. `query.items` are the samples it is about. An
            exception that it raises ends the run; the answers before it are kept, and `run` goes on after them.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from linkwise.active import Dialogue
        >>> X, y = load_iris(return_X_y=True)
        >>> Dialogue(X, budget=10).run(lambda query: y[query.items[0]] == y[query.items[1]]).n_asked
        10
        """
        while (query := self.ask()) is not None:
            self.tell(query, answer(query))
        return self

    def undo(self, number: int | None = None) -> Told | None:
        """Withdraw an answer and return it, or None if there is none; its question may be asked again.

        Parameters
        ----------
        number : int, optional
            The ``number`` of the answer, by default that of the last one.
        """
        found = self.answers[-1:] if number is None else [told for told in self.answers if told.number == number]
        if not found:
            return None
        self.undo_all([found[0].number])
        return found[0]

    def undo_all(self, numbers: Iterable[int]) -> None:
        """Withdraw several answers by their ``number``; numbers of answers that do not stand are passed over.

        Examples
        --------
        >>> from linkwise.active import Dialogue
        >>> talk = Dialogue([[0.0], [1.0], [9.0]])
        >>> talk.tell_all([{"items": [0, 1], "answer": "yes"}, {"items": [0, 2], "answer": "no"}])
        >>> talk.undo_all([0, 1])
        >>> len(talk.answers)
        0
        """
        standing = {told.number for told in self.answers}
        for number in numbers:
            if number in standing:
                self._log.add({"undo": number})
        self._fold()

    def know(self, constraints: Constraints) -> None:
        """Put other constraints in the place of those given at the start; the answers stay.

        Parameters
        ----------
        constraints : Constraints
            All that is known besides the answers. Answers that contradict it are not trusted.

        Raises
        ------
        InfeasibleConstraintsError
            The hard statements cannot all hold; then nothing changes.

        Examples
        --------
        >>> from linkwise import Constraints
        >>> from linkwise.active import Dialogue, RandomPairs
        >>> talk = Dialogue([[0.0], [1.0], [9.0]], strategy=RandomPairs())
        >>> talk.tell((0, 1), True)
        >>> talk.know(Constraints.build(3, cannot_link=[(0, 2)]))
        >>> talk.known.same(1, 2)
        False
        """
        if constraints.n_samples != self._scene.n_samples:
            msg = f"know: constraints are about {constraints.n_samples:,} samples, but X has {self._scene.n_samples:,}."
            raise LinkwiseError(msg)
        known = Known(self._scene.n_samples, constraints, self.n_clusters)
        self._given = constraints
        self._fold(known)

    def tell_all(self, entries: Iterable[dict[str, Any]]) -> None:
        """Record many answers at once, as a log holds them, with the result of `tell` for each.

        Parameters
        ----------
        entries : iterable of dict
            Each with ``items`` and ``answer``, and perhaps ``confidence``, ``who``, ``asked`` and ``checks``.

        Notes
        -----
        **Cost** one test of all answers, where `tell` tests all of them for every trio.

        Examples
        --------
        >>> from linkwise.active import Dialogue
        >>> talk = Dialogue([[0.0], [1.0], [9.0]])
        >>> talk.tell_all([{"items": [0, 1], "answer": "yes"}, {"items": [0, 2], "answer": "no"}])
        >>> talk.known.same(1, 2)
        False
        """
        made = list(entries)
        for at, entry in enumerate(made):
            if "undo" in entry or not is_entry(entry) or max(entry["items"]) >= self._scene.n_samples:
                msg = (
                    f"tell_all: entry {at} is {entry!r}, expected an answer about samples 0 to "
                    f"{self._scene.n_samples - 1}, as in {{'items': [0, 1], 'answer': 'yes'}}."
                )
                raise LinkwiseError(msg)
        self._take_all([self._log.add_answer(entry) for entry in made])

    # -- what came out ------------------------------------------------------------------------------------------

    @property
    def n_asked(self) -> int:
        """Number of questions answered, "unsure" included; answers to pairs that were not asked do not count."""
        return self._n_asked

    @property
    def n_saved(self) -> int:
        """Number of answers in the log that were not withdrawn; 0 without a file."""
        return 0 if self._log.path is None else len(standing(self._log.entries))

    @property
    def constraints(self) -> Constraints:
        """The given constraints, and the trusted answers as hard statements."""
        return self.known.constraints

    @property
    def suspects(self) -> list[Told]:
        """Answers that contradict others and are not trusted."""
        return self.known.suspects

    def fit(self) -> Any:
        """Return a new copy of the estimator, fitted with all constraints so far.

        One with ``warm_start=True`` is copied the first time and then fitted again, which takes a fraction of the time.
        What the strategy believes beyond that becomes soft statements, which give way to the answers. Raises where the
        estimator cannot keep them all, as when more samples are apart than it may make clusters.
        """
        guesses = self._inquiry.guesses()
        said = self.known.constraints
        if not getattr(self.estimator, "warm_start", False):
            self._fitted = None
        model = self._fitted
        self._fitted = fit_to(self.estimator, self._scene.X, said if guesses is None else said | guesses, model)
        return self._fitted

    def error_rates(self) -> dict[str, float]:
        """Estimate how often each person errs: answers found wrong, against a guess of one in twenty beforehand.

        Wrong answers that contradict nothing are not found, so this tends to be too low.
        """
        wrong: defaultdict[str, float] = defaultdict(lambda: EXPECTED_ERRORS[0])
        total: defaultdict[str, float] = defaultdict(lambda: sum(EXPECTED_ERRORS))
        doubted = {told.number for told in self.suspects}
        for told in self.answers:
            if told.statement is not None:
                total[told.who] += 1
                wrong[told.who] += told.number in doubted
        return {who: wrong[who] / total[who] for who in total}

    def progress(self) -> Progress:
        """Return the state of the dialogue: answers, implications, the estimate, and whether more would help."""
        sizes = {group: len(self.known.members(group)) for group in self.known.groups()}
        together = sum(size * (size - 1) // 2 for size in sizes.values())
        apart = sum(size * sizes[other] for group, size in sizes.items() for other in self.known.apart(group)) // 2
        self.ask()
        n, believed = self._scene.n_samples, self._inquiry.believed()
        now = Mark(len(self.answers), together + apart, len(self.suspects), len(sizes), believed)
        if self._marks[-1:] != [now]:
            self._marks = [*self._marks[-1:], now]
        fell, because = fall(self._marks)
        return Progress(
            n_asked=self.n_asked,
            budget=self.budget,
            n_implied=together + apart,
            n_suspects=len(self.suspects),
            settled=(together + apart) / max(n * (n - 1) // 2, 1),
            believed=believed,
            gain=self._inquiry.gain(),
            more=self._inquiry.more(),
            before=fell,
            because=because,
        )

    # -- the log ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the log; a dialogue is closed at the end of its ``with`` block, too."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._log.path is not None:
            self.close()

    def __repr__(self) -> str:
        of = "" if self.budget is None else f" of {self.budget}"
        answers = "answer" if not of and self.n_asked == 1 else "answers"
        return f"Dialogue({many(self._scene.n_samples, 'sample')}, {self.strategy!r}, {self.n_asked}{of} {answers})"

    # -- the steps ----------------------------------------------------------------------------------------------

    def _header(self) -> dict[str, Any]:
        return {
            "n_samples": self._scene.n_samples,
            "data": self._scene.fingerprint(),
            "strategy": repr(self.strategy),
            "metric": self._scene.metric,
            "seed": self._scene.seed,
            "n_clusters": self.n_clusters,
        }

    def _fold(self, known: Known | None = None) -> None:
        """Rebuild the state from the log; ``known`` holds the given constraints, and no answers yet."""
        self._pending = []
        self.known = Known(self._scene.n_samples, self._given, self.n_clusters) if known is None else known
        self._scene.forget(self.known)
        self.answers: list[Told] = []
        self._n_asked, self._checked = 0, set[int]()
        self._scene.budget_left = self.budget
        self._inquiry = self.strategy.begin(self._scene)
        self._take_all(standing(self._log.entries))

    def _take_all(self, said: list[Told]) -> None:
        if not self._inquiry.in_bulk:
            for told in said:
                self._take(told)
            return
        self.known.take_all(said)
        for told in said:
            self._note(told)

    def _take(self, told: Told) -> None:
        self.known.take(told)
        self._note(told)

    def _note(self, told: Told) -> None:
        """Count an answer that the known constraints have taken in, and pass it to the strategy."""
        self._pending = []
        self._handed.pop(told.items, None)
        self.answers.append(told)
        self._n_asked += told.asked
        self._checked.update(told.checks)
        self._scene.budget_left = None if self.budget is None else max(self.budget - self.n_asked, 0)
        self._inquiry.learn(told.items, told.answer)

    def _next(self) -> Query | None:
        """Return a question about an answer that contradicts others, else the proposal of the strategy."""
        number = len(self.answers)
        for told in self.suspects:
            if told.number not in self._checked and not told.checks and told.items not in self.known.held:
                return Query(told.items, number, (told.number,))
        items = self._inquiry.propose()
        return None if items is None else Query(items, number, self._inquiry.checks())


def _place(item: Any, n: int) -> int:
    if not is_whole(item) or not 0 <= int(item) < n:
        msg = f"tell: {item!r} is not a sample; samples are numbered 0 to {n - 1}."
        raise LinkwiseError(msg)
    return int(item)


def next_questions(X: Any, constraints: Constraints | None, count: int, names: Any) -> list[str]:
    """Word the next questions of a dialogue, as if each were answered with "unsure"."""
    talk, found = Dialogue(X, constraints=constraints, names=names), list[str]()
    while len(found) < count and (query := talk.ask()) is not None:
        found.append(query.text(names))
        talk.tell(query, None)
    return found
