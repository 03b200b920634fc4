"""Writing of a report to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwise.exceptions import LinkwiseError
from linkwise.report._facts import Facts
from linkwise.report._gather import gather_facts
from linkwise.report._html import render_html
from linkwise.report._json import to_json
from linkwise.report._markdown import render_markdown

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
