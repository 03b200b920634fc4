"""For other packages of linkwise."""

from linkwise.engines.partitional.inference._energy import (
    INFERENCES as INFERENCES,
    Field as Field,
    PairCharges as PairCharges,
    bind_samples as bind_samples,
)
from linkwise.engines.partitional.inference._kernels_energy import (
    Charges as Charges,
)
from linkwise.engines.partitional.inference._sized_labels import (
    SizedLabels as SizedLabels,
)
