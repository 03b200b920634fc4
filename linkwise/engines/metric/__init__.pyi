from linkwise.engines.distances import (
    nearest_metric as nearest_metric,
    propagate as propagate,
)
from linkwise.engines.metric._distboost import (
    DistBoost as DistBoost,
)
from linkwise.engines.metric._itml import (
    ITML as ITML,
)
from linkwise.engines.metric._learner_mixins import (
    DistanceLearner as DistanceLearner,
    MetricLearner as MetricLearner,
)
from linkwise.engines.metric._lsml import (
    LSML as LSML,
)
from linkwise.engines.metric._rca import (
    RCA as RCA,
    ChunkletLDA as ChunkletLDA,
    DiscriminativeRCA as DiscriminativeRCA,
)
from linkwise.engines.metric._svm import (
    SVMMetric as SVMMetric,
)
from linkwise.engines.metric._xing import (
    XingMetric as XingMetric,
)
