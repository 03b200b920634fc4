"""Words only: the facts as one HTML file that needs nothing else, opens offline and reads well on a phone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.constraints import Kind
from linkwise.plots._palette import cluster_colour
from linkwise.report._facts import Conflict, Facts, gather_facts
from linkwise.report._svg import tree_svg
from linkwise.report._text import safe, script_json

__all__ = ["render_html", "write_report"]

_MEANING = {
    Kind.MUST_LINK: ("must-link", "together", "these two samples belong to the same cluster"),
    Kind.CANNOT_LINK: ("cannot-link", "apart", "these two samples belong to different clusters"),
    Kind.TRIPLET: ("triplet", "closer", "the first two samples meet in the tree before either meets the third"),
    Kind.TOGETHER: ("group together", "together", "all these samples belong to one cluster"),
    Kind.APART: ("group apart", "apart", "no two of these samples belong to the same cluster"),
    Kind.MUST_LINK_ANY: ("must-link choice", "together", "the first sample shares a cluster with one of the others"),
    Kind.CANNOT_LINK_ANY: ("cannot-link choice", "apart", "the first sample is apart from one of the others"),
}
_MAX_CLUSTERS = 200


def write_report(path: str | Path, result: Any, **facts: Any) -> Path:
    """Write the report of a fitted estimator or a dendrogram as one HTML file.

    Parameters
    ----------
    path : str or Path
        The file to write; replaced when it exists.
    result : fitted estimator, Dendrogram or Facts
        What to report on.
    **facts
        Passed to `gather_facts`: ``constraints``, ``ids``, ``title`` and so on.

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
    page = render_html(result if isinstance(result, Facts) else gather_facts(result, **facts))
    target = Path(path)
    target.write_text(page, encoding="utf-8")
    return target


def render_html(facts: Facts) -> str:
    """Word the facts as a self-contained page.

    Parameters
    ----------
    facts : Facts
        From `gather_facts`.

    Returns
    -------
    str
        A whole HTML document. The same facts give the same text, byte for byte.

    Notes
    -----
    **Guarantee** the page loads nothing from anywhere; everything that comes from the data is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Dendrogram
    >>> from linkwise.report import gather_facts, render_html
    >>> tree = Dendrogram.from_merges(2, np.array([[0, 1]]), np.array([1.0]))
    >>> page = render_html(gather_facts(tree, labels=[0, 0], ids=["<b>", "x"]))
    >>> "<b>x" in page, "&lt;b&gt;" in page
    (False, True)
    """
    sections = [
        _head(facts),
        _tiles(facts),
        _verdict(facts),
        *(_conflict(conflict) for conflict in facts.conflicts),
        _tree(facts),
        _kinds(facts),
        _scores(facts),
        _clusters(facts),
        _statements(facts),
        _recipe(facts),
        f"<footer>Written by linkwise {safe(facts.version)}. This page loads nothing from the network.</footer>",
        _scripts(facts),
    ]
    body = "\n".join(section for section in sections if section)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(facts.title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


@cache
def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _head(facts: Facts) -> str:
    said = ", ".join(kind.kind.count(kind.said) for kind in facts.kinds) or "nothing"
    where = f", in {_many(facts.n_roots, 'tree')} that may not be joined" if facts.n_roots > 1 else ""
    return (
        f"<h1>{safe(facts.title)}</h1>\n"
        f'<p class="lead">{_many(facts.n_samples, "sample")} in {_many(len(facts.clusters), "cluster")}{where}. '
        f"What was said beforehand: {said}.</p>"
        + (f'<p class="soft"><code>{safe(facts.method)}</code></p>' if facts.method else "")
    )


def _tiles(facts: Facts) -> str:
    sizes = [cluster.size for cluster in facts.clusters]
    tiles = [
        (f"{facts.n_samples:,}", "samples"),
        (f"{len(sizes):,}", "clusters"),
        (f"{min(sizes):,} – {max(sizes):,}", "smallest, largest cluster") if sizes else ("0", "clusters"),
        (f"{facts.n_statements:,}", "statements made"),
    ]
    if facts.k_min is not None:
        tiles.append((f"{facts.k_min:,}", "fewest clusters reachable"))
    return (
        '<div class="tiles">'
        + "".join(f'<div class="tile"><b>{n}</b><span>{t}</span></div>' for n, t in tiles)
        + "</div>"
    )


def _verdict(facts: Facts) -> str:
    broken = sum(kind.said - kind.held for kind in facts.kinds)
    rules = "".join(
        f"<br>{safe(rule)} {'was not checked' if held is None else 'holds' if held else 'is broken'}."
        for rule, held in facts.rules
    )
    if facts.faults:
        mood, mark, text = "bad", "✗", "<b>The tree is unsound.</b>" + "<br>".join(map(safe, facts.faults))
    elif facts.n_broken or any(held is False for _, held in facts.rules):
        mood, mark = "bad", "✗"
        text = f"<b>{_many(facts.n_broken, 'hard statement')} broken.</b>They come first in the list below.{rules}"
    elif not facts.n_statements and not facts.rules:
        mood, mark = "none", "○"
        text = "<b>Nothing was said, so there was nothing to hold.</b>This is the plain method."
    elif broken:
        mood, mark = "good", "✓"
        text = f"<b>Every hard statement holds.</b>{_many(broken, 'soft statement')} gave way.{rules}"
    else:
        mood, mark = "good", "✓"
        lead = "The one statement holds." if facts.n_statements == 1 else f"All {facts.n_statements:,} statements hold."
        text = f"<b>{lead}</b>Checked from the finished tree by code that shares nothing with the method.{rules}"
    return f'<div class="verdict {mood}"><span class="mark" aria-hidden="true">{mark}</span><div>{text}</div></div>'


def _conflict(conflict: Conflict) -> str:
    listed = "".join(f"<li><code>{safe(text)}</code></li>" for text in conflict.statements)
    fixes = "".join(f"<li><code>{safe(text)}</code></li>" for text in conflict.suspects)
    fix = f"<p>Dropping any one of these resolves it:</p><ul>{fixes}</ul>" if fixes else ""
    return (
        '<section class="conflict"><b>These statements cannot hold together</b>'
        f"<ul>{listed}</ul><p>{safe(conflict.because)}</p>{fix}</section>"
    )


def _tree(facts: Facts) -> str:
    used = dict.fromkeys(kind for kind, _, _ in facts.arcs)
    legend = [f'<span><i class="{_MEANING[kind][1]}"></i>{_MEANING[kind][0]}</span>' for kind in used]
    if any(not held for _, held, _ in facts.arcs):
        legend.append("<span>thick: does not hold</span>")
    if facts.sketch.cut_height is not None:
        legend.append('<span><i class="cutline"></i>where the clusters are cut</span>')
    find = ""
    if facts.names:
        find = (
            '<label id="find-label" for="find" class="soft">Find a sample</label><br>'
            '<input id="find" type="search" autocomplete="off" placeholder="name or part of it">'
            '<div id="found" class="soft" aria-live="polite"></div>'
        )
    arcs = ", the arcs below it what was said" if facts.arcs else ""
    many = "" if facts.arcs or not facts.n_statements else " There are too many statements to draw each."
    return (
        f'<h2>The tree</h2>\n<figure><div class="wide">{tree_svg(facts)}</div>'
        f'<figcaption><div class="legend">{"".join(legend)}</div>'
        f"Two samples meet at the height at which their clusters were joined. "
        f"The coloured ground shows the clusters{arcs}.{many}</figcaption></figure>\n{find}"
    )


def _kinds(facts: Facts) -> str:
    if not facts.kinds:
        return ""
    rows = "".join(
        f"<tr><td>{_MEANING[k.kind][0]}<br><span class='soft'>{_MEANING[k.kind][2]}</span></td>"
        f"<td class='n'>{k.said:,}</td><td class='n {'yes' if k.held == k.said else 'no'}'>{k.held:,}</td></tr>"
        for k in facts.kinds
    )
    head = '<tr><th>statement</th><th class="n">said</th><th class="n">hold</th></tr>'
    return f"<h2>What was said, and what holds</h2>\n<div class='wide'><table>{head}{rows}</table></div>"


def _scores(facts: Facts) -> str:
    if not facts.scores:
        return ""
    rows = "".join(
        f"<tr><td>{safe(s.name)}</td><td class='n'>{s.before:.3f}</td><td class='n'><b>{s.after:.3f}</b></td></tr>"
        for s in facts.scores
    )
    head = '<tr><th></th><th class="n">without what was said</th><th class="n">with it</th></tr>'
    return f"<h2>Before and after</h2>\n<div class='wide'><table>{head}{rows}</table></div>"


def _clusters(facts: Facts) -> str:
    largest = max((cluster.size for cluster in facts.clusters), default=1)
    parts = ["<h2>The clusters</h2>"]
    for cluster in facts.clusters[:_MAX_CLUSTERS]:
        colour = cluster_colour(cluster.label)
        share = 100 * cluster.size / largest
        members = "".join(f"<li><bdi>{safe(name)}</bdi></li>" for name in cluster.members)
        left_out = cluster.size - len(cluster.members)
        more = f"<p class='soft'>… and {left_out:,} more.</p>" if left_out else ""
        parts.append(
            f'<details data-cluster="{cluster.label}"><summary><span class="swatch" style="background:{colour}"></span>'
            f"<span>Cluster {cluster.label}</span>"
            f'<span class="bar"><span style="width:{share:.1f}%;background:{colour}"></span></span>'
            f'<span class="soft">{_many(cluster.size, "sample")}</span></summary>'
            f'<ul class="members">{members}</ul>{more}</details>'
        )
    if len(facts.clusters) > _MAX_CLUSTERS:
        parts.append(f"<p class='soft'>… and {len(facts.clusters) - _MAX_CLUSTERS:,} more clusters.</p>")
    return "\n".join(parts)


def _statements(facts: Facts) -> str:
    if not facts.statements:
        return ""
    marks = {True: "<span class='yes'>✓</span>", False: "<span class='no'>✗ broken</span>"}
    rows = "".join(f"<li>{marks[s.held]} <code>{safe(s.text)}</code></li>" for s in facts.statements)
    left_out = facts.n_statements - len(facts.statements)
    more = f"<p class='soft'>… and {left_out:,} more, which hold or are counted above.</p>" if left_out else ""
    open_now = " open" if facts.n_broken else ""
    count = _many(facts.n_statements, "statement")
    return (
        f"<h2>Every statement</h2>\n<details{open_now}><summary>{count}, one by one</summary>"
        f'<ul class="said">{rows}</ul>{more}</details>'
    )


def _recipe(facts: Facts) -> str:
    return f"<h2>How to do it again</h2>\n<pre><code>{safe(facts.recipe, 100_000)}</code></pre>" if facts.recipe else ""


def _scripts(facts: Facts) -> str:
    data = ""
    if facts.names:
        labels = facts.sketch.cluster[: facts.sketch.n_leaves][np.argsort(facts.sketch.start[: facts.sketch.n_leaves])]
        names = [_short(name) for name in facts.names]
        data = (
            f'<script type="application/json" id="names">{script_json(names)}</script>\n'
            f'<script type="application/json" id="clusters">{script_json(labels.tolist())}</script>\n'
        )
    return f"{data}<script>\n{_asset('page.js')}</script>"


def _short(name: str) -> str:
    return name if len(name) <= 120 else name[:119] + "…"
