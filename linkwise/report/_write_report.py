"""Writing of a report to a file, and the facts as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.report._facts import Facts
from linkwise.report._gather import gather_facts
from linkwise.report._html import render_html
from linkwise.report._markdown import render_markdown

_DRAWING = {"sketch", "arcs", "map"}


def to_json(facts: Facts, *, indent: int | None = 2) -> str:
    """Write the facts as JSON with the field names of `Facts`, without the drawings.

    Parameters
    ----------
    facts, indent : Facts, and int or None
        From `gather_facts`, and as in ``json.dumps``.

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


_FORMS = {".html": render_html, ".htm": render_html, ".md": render_markdown, ".json": to_json}


def write_report(path: str | Path, result: Any, **facts: Any) -> Path:
    """Write the report of a result as a page, Markdown or JSON, by the ending of the file name.

    Parameters
    ----------
    path : str or Path
        The file to write, ending in .html, .md or .json; replaced when it exists.
    result : fitted estimator, Clustering, Dendrogram, labels or Facts
        The result to report on.
    **facts
        Passed to `gather_facts`: ``X``, ``constraints``, ``before``, ``ids``, ``title`` and so on.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from linkwise import Dendrogram
    >>> from linkwise.report import write_report
    >>> tree = Dendrogram.from_merges(3, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder, "report.html"), tree, labels=[0, 0, 1]).name
    'report.html'
    """
    target = Path(path)
    form = _FORMS.get(target.suffix.lower())
    if form is None:
        msg = (
            f"write_report: {target.name!r} ends in {target.suffix!r}, expected .html, .md or .json.\n"
            "Hint: write_report('report.html', result)."
        )
        raise LinkwiseError(msg)
    text = form(result if isinstance(result, Facts) else gather_facts(result, **facts))
    target.write_text(text, encoding="utf-8", errors="replace")
    return target
