"""The facts of a report as JSON, without the drawings."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from linkwise.constraints import Kind
from linkwise.report._facts import Facts

_DRAWING = {"sketch", "arcs", "map"}


def to_json(facts: Facts, *, indent: int | None = 2) -> str:
    """Write the facts as JSON with the field names of `Facts`, without the drawings.

    Parameters
    ----------
    facts : Facts
        From `gather_facts`.
    indent : int or None, default=2
        As in ``json.dumps``.

    Returns
    -------
    str
        Strict JSON in ASCII; numbers that are not finite become null, kinds their keywords.

    Examples
    --------
    >>> import json
    >>> from linkwise.report import gather_facts, to_json
    >>> facts = json.loads(to_json(gather_facts([0, 0, 1])))
    >>> facts["n_samples"], [cluster["size"] for cluster in facts["clusters"]]
    (3, [2, 1])
    """
    return json.dumps(_plain(facts), indent=indent, allow_nan=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in _DRAWING}
    if isinstance(value, Kind):
        return value.word
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
