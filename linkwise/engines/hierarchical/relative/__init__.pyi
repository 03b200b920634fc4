"""For other packages of linkwise."""

from linkwise.engines.hierarchical.relative._estimator import (
    ReCon as ReCon,
)
