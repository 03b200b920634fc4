"""Many repetitions at once: cells of a study by the place their numbers go to."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from linkwise.exceptions import LinkwiseWarning
from linkwise.experiments import Cell, Study
from linkwise.papers._exhibit import Settings

__all__ = ["run_cells"]

Place = TypeVar("Place", bound=Hashable)


def run_cells(
    settings: Settings, folder: str, wanted: Mapping[Place, Sequence[Cell]], **options: Any
) -> dict[Place, list[dict[str, Any]]]:
    """Compute what is not there yet and return the finished records of every place; places without any are left out."""
    study = Study(
        [cell for cells in wanted.values() for cell in cells],
        settings.store / folder,
        data=settings.data,
        **options,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # the summary says the same about missing data sets
        summary = study.run(n_jobs=settings.jobs)
    settings.say(f"{folder}: {summary}")
    found = {
        place: [record for cell in cells if (record := study.record(cell)) is not None and record["status"] == "done"]
        for place, cells in wanted.items()
    }
    return {place: records for place, records in found.items() if records}
