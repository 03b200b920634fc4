"""Engines that change how far samples are from each other."""

from typing import TYPE_CHECKING

from linkwise._lazy import loads_from

__all__ = [  # noqa: RUF022 - methods known by their initials are no constants
    "BoostedDistance",
    "ChunkletLDA",
    "DiscriminativeRCA",
    "DistBoost",
    "DistanceLearner",
    "ITML",
    "LSML",
    "LearnedMetric",
    "MetricLearner",
    "RCA",
    "SVMMetric",
    "XingMetric",
    "chunklet_lda",
    "discriminative_components",
    "distboost",
    "itml",
    "lsml",
    "propagate",
    "relevant_components",
    "svm_metric",
    "xing_metric",
]

if TYPE_CHECKING:
    from linkwise.engines.metric._distboost import BoostedDistance, DistBoost, distboost
    from linkwise.engines.metric._itml import ITML, itml
    from linkwise.engines.metric._learner import DistanceLearner, LearnedMetric, MetricLearner
    from linkwise.engines.metric._lsml import LSML, lsml
    from linkwise.engines.metric._propagate import propagate
    from linkwise.engines.metric._relevant import (
        RCA,
        ChunkletLDA,
        DiscriminativeRCA,
        chunklet_lda,
        discriminative_components,
        relevant_components,
    )
    from linkwise.engines.metric._svm import SVMMetric, svm_metric
    from linkwise.engines.metric._xing import XingMetric, xing_metric
else:
    _MODULES = (
        "_propagate",
        "_learner",
        "_relevant",
        "_itml",
        "_lsml",
        "_xing",
        "_svm",
        "_distboost",
    )
    __getattr__, __dir__ = loads_from(__name__, __all__, _MODULES)
