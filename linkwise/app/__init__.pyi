from linkwise.app._server import (
    open_project as open_project,
)
