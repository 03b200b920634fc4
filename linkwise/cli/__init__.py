"""The command line: parse, call the library, show. It holds no algorithm."""

from linkwise.cli._main import main

__all__ = ["main"]
