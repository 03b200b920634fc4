"""Metric learners: features times statements, and beside the seconds the gap to the optimum that is proved."""

from __future__ import annotations

from benchmarks.metrics_peer import make_case
from linkwise import Constraints, Kind
from linkwise.engines import ITML, LSML, RCA, ChunkletLDA, DiscriminativeRCA, DistBoost, SVMMetric, XingMetric

LEARNERS = {
    "ChunkletLDA": ChunkletLDA(),
    "DiscriminativeRCA": DiscriminativeRCA(),
    "DistBoost": DistBoost(5, n_rounds=10, random_state=0),
    "ITML": ITML(),
    "LSML": LSML(),
    "LSML margin": LSML(loss="margin"),
    "RCA": RCA(),
    "SVMMetric": SVMMetric(),
    "XingMetric": XingMetric(),
    "XingMetric diagonal": XingMetric(form="diagonal"),
}


class Learners:
    """Five classes told apart by three directions; half must-links, half cannot-links, or as many triplets."""

    params = ([10, 100], [100, 2_000], sorted(LEARNERS))
    param_names = ("features", "statements", "method")

    def setup(self, d, m, method):
        case = make_case(1000, d, m)
        self.X, self.model = case.X, LEARNERS[method]
        told = {"must_link": case.must, "cannot_link": case.cannot, "triplets": case.trio}
        known = type(self.model).understands
        if Kind.TRIPLET in known:
            told = {"triplets": case.trio}
        else:
            told = {kind.word: told[kind.word] for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK) if kind in known}
        self.constraints = Constraints.build(1000, **told)
        self.model.fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self.model.fit(self.X, constraints=self.constraints)

    def peakmem_fit(self, *_):
        self.model.fit(self.X, constraints=self.constraints)

    def track_gap(self, *_):
        model = self.model.fit(self.X, constraints=self.constraints)
        return model.losses_[-1] if isinstance(model, DistBoost) else model.gap_  # no optimum is proved for boosting
