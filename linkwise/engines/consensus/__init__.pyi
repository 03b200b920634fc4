from linkwise.engines.consensus._estimator import (
    Consensus as Consensus,
    ViewReport as ViewReport,
)
