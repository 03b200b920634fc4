from linkwise.datasets._dataset import (
    Data as Data,
)
from linkwise.datasets._load import (
    load as load,
    names as names,
)
from linkwise.datasets._planted import (
    Planted as Planted,
    blobs_with_knowledge as blobs_with_knowledge,
)
from linkwise.datasets._random_taxonomy import (
    noisy_taxonomy as noisy_taxonomy,
)
from linkwise.datasets._shapes import (
    cellwalls as cellwalls,
    circles as circles,
    stormclouds as stormclouds,
    xor as xor,
)
