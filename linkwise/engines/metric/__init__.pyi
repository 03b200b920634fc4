from linkwise.engines.distances import (
    propagate as propagate,
)
from linkwise.engines.metric._distboost import (
    BoostedDistance as BoostedDistance,
    DistBoost as DistBoost,
    distboost as distboost,
)
from linkwise.engines.metric._itml import (
    ITML as ITML,
    itml as itml,
)
from linkwise.engines.metric._learner_mixins import (
    DistanceLearner as DistanceLearner,
    LearnedMetric as LearnedMetric,
    MetricLearner as MetricLearner,
)
from linkwise.engines.metric._lsml import (
    LSML as LSML,
    lsml as lsml,
)
from linkwise.engines.metric._rca import (
    RCA as RCA,
    ChunkletLDA as ChunkletLDA,
    DiscriminativeRCA as DiscriminativeRCA,
    chunklet_lda as chunklet_lda,
    discriminative_components as discriminative_components,
    relevant_components as relevant_components,
)
from linkwise.engines.metric._svm import (
    SVMMetric as SVMMetric,
    svm_metric as svm_metric,
)
from linkwise.engines.metric._xing import (
    XingMetric as XingMetric,
    xing_metric as xing_metric,
)
