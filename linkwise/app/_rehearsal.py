"""Small work that makes kernels ready before they are needed: it compiles them, or loads what was compiled before.

Each stage is short, so that a request waits for one at most, and the first thing that people need comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from linkwise._kernels import compiled_only
from linkwise.constraints import Constraints

N = 60


def _items() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.random.default_rng(0).normal(size=(N, 4)) + 8.0 * np.arange(N)[:, None] // 20


def _statements(kind: str) -> Constraints:
    """Some statements of a kind; "all" has every kind that a project can have."""
    pairs = [(at, at + 3) for at in range(0, 12, 4)]
    trios = [(at, at + 5, 50 - at) for at in range(8)]
    match kind:
        case "nothing":
            return Constraints.build(N)
        case "triplets":
            return Constraints.build(N, triplets=trios)
        case "pairs":
            return Constraints.build(N, must_link=pairs, cannot_link=[(0, 50), (4, 45)])
    return Constraints.build(
        N, must_link=pairs, cannot_link=[(0, 50)], triplets=trios, together=[[21, 24, 27]], apart=[[1, 30, 58]]
    )


def _fit(*kinds: str) -> None:
    from linkwise.engines import ReCon

    with compiled_only():
        model = ReCon(3, linkage="ward", warm_start=True)
        for kind in kinds:
            model.fit(_items(), constraints=_statements(kind))


def _check() -> None:
    from linkwise.problem import check

    with compiled_only():
        for more in (
            Constraints.build(N, cannot_link=[(0, 3)]),
            Constraints.build(N, triplets=[(0, 50, 5), (1, 20, 40), (20, 40, 1)]),
        ):
            check(_statements("all") | more, X=_items())


def _why() -> None:
    from linkwise.engines import ReCon
    from linkwise.problem import why

    with compiled_only():
        model = ReCon(3, linkage="ward").fit(_items(), constraints=_statements("all"))
        why(model.dendrogram_, 0, 50, _statements("all"), labels=model.labels_)


def _ask(count: int) -> None:
    from linkwise.active import Dialogue, PairsAndTrios

    with compiled_only():
        talk = Dialogue(_items(), strategy=PairsAndTrios())
        for _ in range(count):
            query = talk.ask()
            if query is None:
                return
            same = query.items[0] // 20 == query.items[1] // 20
            talk.tell(query, same if len(query.items) == 2 else "third")


def _contradict() -> None:
    from linkwise.active import Dialogue, PairsAndTrios

    with compiled_only():
        talk = Dialogue(_items(), strategy=PairsAndTrios())
        talk.tell_all([{"items": [0, 1, 40], "answer": "third"}, {"items": [0, 1], "answer": "yes"}])
        talk.tell((1, 2), True)
        talk.tell((0, 2), False)
        talk.tell((0, 1, 40), "first")
        talk.ask()


STAGES: dict[str, list[Callable[[], None]]] = {
    "ask": [partial(_ask, 1), partial(_ask, 6), _contradict],
    "fit": [
        partial(_fit, "nothing"),
        partial(_fit, "nothing", "triplets", "nothing"),
        partial(_fit, "pairs", "all", "pairs"),
        _check,
        _why,
    ],
}
