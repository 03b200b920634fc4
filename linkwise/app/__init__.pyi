from linkwise.app._server import (
    open_project as open_project,
)

"""For other packages of linkwise."""

from linkwise.app._log import (
    MOST_ROWS as MOST_ROWS,
    ROLES as ROLES,
    New as New,
    Standing as Standing,
    Statement as Statement,
    Unit as Unit,
    fold as fold,
    read_body as read_body,
)
