"""For other packages of linkwise."""

from linkwise.app.files._exports import (
    State as State,
    state_of_project as state_of_project,
)
from linkwise.app.files._images import (
    Pictures as Pictures,
)
from linkwise.app.files._reading import (
    Reading as Reading,
    list_samples as list_samples,
    preview as preview,
    read_items as read_items,
    sample as sample,
)
from linkwise.app.files._statements_file import (
    read_statements as read_statements,
)
from linkwise.app.files._terminal_talk import (
    TerminalTalk as TerminalTalk,
)
