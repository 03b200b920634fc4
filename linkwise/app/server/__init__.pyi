from linkwise.app.server._server import (
    open_project as open_project,
)
