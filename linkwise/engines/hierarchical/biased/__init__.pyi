"""For other packages of linkwise."""

from linkwise.engines.hierarchical.biased._algorithms import (
    AdaptiveRun as AdaptiveRun,
    bihac as bihac,
    biihac as biihac,
    ihac as ihac,
)
from linkwise.engines.hierarchical.biased._estimators import (
    IHAC as IHAC,
    BiHAC as BiHAC,
    BiiHAC as BiiHAC,
)
