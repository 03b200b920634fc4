from linkwise.app.server import (
    open_project as open_project,
)

"""For the folders server and files, which are rooms of their own."""

from linkwise.app._asker import (
    Asker as Asker,
)
from linkwise.app._fitter import (
    Fitter as Fitter,
)
from linkwise.app._frames import (
    read_async as read_async,
    write_async as write_async,
)
from linkwise.app._items import (
    items_of as items_of,
)
from linkwise.app._log import (
    KINDS as KINDS,
    MOST_ROWS as MOST_ROWS,
    ROLES as ROLES,
    SAYS as SAYS,
    TRIO_ANSWERS as TRIO_ANSWERS,
    New as New,
    Statement as Statement,
    names_in as names_in,
    read_body as read_body,
    read_new as read_new,
    require_targets as require_targets,
)
from linkwise.app._project_checks import (
    ProjectError as ProjectError,
)
from linkwise.app._standing import (
    Standing as Standing,
    Unit as Unit,
    fold as fold,
)
from linkwise.app._store import (
    Store as Store,
)

"""For the command line."""

from linkwise.app.files import (
    TerminalTalk as TerminalTalk,
    state_of_project as state_of_project,
)
