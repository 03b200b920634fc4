from linkwise.cli._main import (
    main as main,
)
