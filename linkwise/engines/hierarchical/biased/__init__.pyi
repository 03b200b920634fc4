"""For other packages of linkwise."""

from linkwise.engines.hierarchical.biased._estimators import (
    IHAC as IHAC,
    BiHAC as BiHAC,
    BiiHAC as BiiHAC,
)
