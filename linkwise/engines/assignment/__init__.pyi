"""For other packages of linkwise."""

from linkwise.engines.assignment._assign import (
    assign as assign,
)
from linkwise.engines.assignment._epsilon_places import (
    FixedPrice as FixedPrice,
    NearPlaces as NearPlaces,
    Neighborhoods as Neighborhoods,
)
from linkwise.engines.assignment._policies import (
    ExactPlaces as ExactPlaces,
    FixedPlaces as FixedPlaces,
    FixedSizedPlaces as FixedSizedPlaces,
    FreePlaces as FreePlaces,
    GreedyPlaces as GreedyPlaces,
    Place as Place,
    Placement as Placement,
    SizedPlaces as SizedPlaces,
    size_bounds as size_bounds,
)
