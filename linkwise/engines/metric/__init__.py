"""Engines that change how far samples are from each other."""

from linkwise.engines.metric._propagate import propagate

__all__ = ["propagate"]
