"""For other packages of linkwise."""

from linkwise.app.files._exports import (
    State as State,
    state_of_project as state_of_project,
)
from linkwise.app.files._images import (
    Pictures as Pictures,
)
from linkwise.app.files._preview import (
    preview as preview,
)
from linkwise.app.files._reading import (
    read_items as read_items,
)
from linkwise.app.files._sample_tables import (
    list_samples as list_samples,
    sample as sample,
)
from linkwise.app.files._statements_file import (
    read_statements as read_statements,
)
from linkwise.app.files._terminal_talk import (
    TerminalTalk as TerminalTalk,
)
