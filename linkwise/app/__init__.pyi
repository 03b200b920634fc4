from linkwise.app.server import (
    open_project as open_project,
)

"""For the server, which is a folder of its own."""

from linkwise.app._frames import (
    read_async as read_async,
    write_async as write_async,
)
from linkwise.app._log import (
    New as New,
    Standing as Standing,
    Statement as Statement,
    fold as fold,
    names_in as names_in,
    read_body as read_body,
    read_new as read_new,
    require_targets as require_targets,
)
from linkwise.app._store import (
    ProjectError as ProjectError,
    Store as Store,
)
