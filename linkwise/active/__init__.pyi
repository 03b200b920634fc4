from linkwise.active._answered import (
    Known as Known,
)
from linkwise.active._answerers import (
    Answerer as Answerer,
    LabelAnswerer as LabelAnswerer,
    TreeAnswerer as TreeAnswerer,
)
from linkwise.active._dialogue import (
    Dialogue as Dialogue,
)
from linkwise.active._dialogue_progress import (
    Progress as Progress,
)
from linkwise.active._explore import (
    ExploreConsolidate as ExploreConsolidate,
    MinMax as MinMax,
    Uncertainty as Uncertainty,
)
from linkwise.active._gain import (
    ExpectedGain as ExpectedGain,
)
from linkwise.active._merge_questions import (
    DoubtfulMerges as DoubtfulMerges,
)
from linkwise.active._mixed_questions import (
    PairsAndTrios as PairsAndTrios,
)
from linkwise.active._query import (
    Answer as Answer,
    Query as Query,
    Told as Told,
)
from linkwise.active._strategy import (
    Inquiry as Inquiry,
    RandomPairs as RandomPairs,
    RandomTrios as RandomTrios,
    Strategy as Strategy,
)
from linkwise.active._strategy_view import (
    Scene as Scene,
)
from linkwise.active._triplet_questions import (
    PlacingTrios as PlacingTrios,
)

"""For other packages of linkwise."""

from linkwise.active._answer_log import (
    FORMAT as FORMAT,
    is_entry as is_entry,
    standing as standing,
)
from linkwise.active._dialogue import (
    next_questions as next_questions,
)
