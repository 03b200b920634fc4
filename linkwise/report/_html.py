"""The report as one HTML file without external resources, for desktop and phone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from linkwise._messages import many
from linkwise.report._facts import Conflict, Facts
from linkwise.report._page_sections import (
    change_section,
    cluster_section,
    doubt_section,
    judged_section,
    more_of,
    question_section,
    truth_section,
    view_section,
)
from linkwise.report._sentences import (
    JUDGED,
    MEANING,
    REPEAT,
    STATEMENTS,
    TRUTH,
    VIEWS,
    asked,
    lead,
    safe,
    script_json,
    verdict,
)
from linkwise.report._svg import map_svg, tree_svg


def render_html(facts: Facts) -> str:
    """Write the facts as a self-contained page.

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
    **Guarantee** the page loads no other resources; all texts from the data are escaped.

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
    parts = [
        ("", _head(facts)),
        ("", _verdict(facts)),
        ("", _tiles(facts)),
        ("conflicts", _conflicts(facts)),
        ("tree", _tree(facts)),
        ("map", _map(facts)),
        ("changed", change_section(facts) + _scores(facts)),
        ("clusters", cluster_section(facts)),
        ("doubtful", doubt_section(facts)),
        ("classes", truth_section(facts)),
        ("judged", judged_section(facts)),
        ("views", view_section(facts)),
        ("questions", question_section(facts)),
        ("said", _kinds(facts) + _statements(facts)),
        ("again", _recipe(facts)),
    ]
    sections = [text if not name else f'<section id="{name}">{text}</section>' for name, text in parts if text]
    sections.insert(1, _contents([name for name, text in parts if name and text]))
    sections += [
        f"<footer>Written by linkwise {safe(facts.version)}. This page loads nothing from the network.</footer>",
        _scripts(facts),
    ]
    body = "\n".join(section for section in sections if section)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{safe(facts.title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


@cache
def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_CONTENTS = {
    "conflicts": "Conflicts",
    "tree": "Tree",
    "map": "Map",
    "changed": "Effect",
    "clusters": "Clusters",
    "doubtful": "Least certain",
    "classes": TRUTH,
    "judged": JUDGED,
    "views": VIEWS,
    "questions": "Questions",
    "said": "Statements",
    "again": "Repeat",
}


def _contents(names: list[str]) -> str:
    links = "".join(f'<a href="#{name}">{_CONTENTS[name]}</a>' for name in names)
    return f'<nav aria-label="Contents">{links}</nav>' if len(names) > 3 else ""


def _head(facts: Facts) -> str:
    reasons = "".join(f"<li>{safe(reason)}</li>" for reason in facts.reasons)
    return (
        f"<header><h1>{safe(facts.title)}</h1>\n"
        f'<p class="lead">{safe(lead(facts))} {safe(asked(facts))}</p>'
        + (f'<p class="soft"><code>{safe(facts.method)}</code></p>' if facts.method and not reasons else "")
        + (f'<ul class="soft">{reasons}</ul>' if reasons else "")
        + "</header>"
    )


def _sizes(sizes: list[int]) -> tuple[str, str]:
    """Return the sizes of the clusters: the smallest and the largest, or the size of all."""
    if len(set(sizes)) > 1:
        return f"{min(sizes):,} – {max(sizes):,}", "smallest, largest cluster"
    return _counted(sizes[0], "sample", " in each cluster") if sizes else ("0", "clusters")


def _counted(count: int, word: str, more: str = "") -> tuple[str, str]:
    """Return a number, and its noun for the line below it."""
    figure, _, noun = many(count, word).partition(" ")
    return figure, noun + more


def _tiles(facts: Facts) -> str:
    sizes = [cluster.size for cluster in facts.clusters]
    tiles = [
        _counted(facts.n_samples, "sample"),
        _counted(len(sizes), "cluster"),
        _sizes(sizes),
        _counted(facts.n_statements, "statement", " made"),
    ]
    if facts.comparison is not None:
        tiles.append(_counted(facts.comparison.n_moved, "sample", " moved by constraints"))
    if facts.k_min is not None:
        tiles.append((f"{facts.k_min:,}", "smallest possible number of clusters"))
    return (
        '<div class="tiles">'
        + "".join(f'<div class="tile"><b>{n}</b><span>{t}</span></div>' for n, t in tiles)
        + "</div>"
    )


def _verdict(facts: Facts) -> str:
    mood, head, rest = verdict(facts)
    mark = {"good": "✓", "bad": "✗", "none": "○"}[mood]
    text = f"<b>{safe(head)}</b>" + "<br>".join(map(safe, rest))
    return f'<div class="verdict {mood}"><span class="mark" aria-hidden="true">{mark}</span><div>{text}</div></div>'


def _conflicts(facts: Facts) -> str:
    if not facts.conflicts and not facts.repairs:
        return ""
    parts = ["<h2>Conflicts and repairs</h2>", *(_conflict(conflict) for conflict in facts.conflicts)]
    if facts.repairs:
        left_out = "".join(f"<li><code>{safe(text)}</code></li>" for text in facts.repairs)
        parts.append(f"<p>These statements were left out so that the others hold together:</p><ul>{left_out}</ul>")
    return "\n".join(parts)


def _conflict(conflict: Conflict) -> str:
    listed = "".join(f"<li><code>{safe(text)}</code></li>" for text in conflict.statements)
    fixes = "".join(f"<li><code>{safe(text)}</code></li>" for text in conflict.suspects)
    head = "Dropping any one of these resolves it" if len(conflict.suspects) > 1 else "Dropping this resolves it"
    fix = f"<p>{head}:</p><ul>{fixes}</ul>" if fixes else ""
    return (
        '<div class="conflict"><b>These statements cannot hold together</b>'
        f"<ul>{listed}</ul><p>{safe(conflict.because)}</p>{fix}</div>"
    )


def _tree(facts: Facts) -> str:
    if facts.sketch is None:
        return ""
    used = dict.fromkeys(kind for kind, _, _ in facts.arcs)
    legend = [f'<span><i class="{MEANING[kind][1]}"></i>{MEANING[kind][0]}</span>' for kind in used]
    if any(not held for _, held, _ in facts.arcs):
        legend.append("<span>thick: does not hold</span>")
    if facts.sketch.cut_height is not None:
        legend.append('<span><i class="cutline"></i>the cut into clusters</span>')
    if facts.sketch.n_outside:
        legend.append(
            f"<span>hatched: {many(facts.sketch.n_outside, 'sample')} outside the branch of the cluster</span>"
        )
    find = ""
    if facts.names:
        find = (
            '<label id="find-label" for="find" class="soft">Find a sample</label><br>'
            '<input id="find" type="search" autocomplete="off" placeholder="name or part of it">'
            '<div id="found" class="soft" aria-live="polite"></div>'
        )
    arcs = ", the arcs below the tree show the statements" if facts.arcs else ""
    not_drawn = "" if facts.arcs or not facts.n_statements else " There are too many statements to draw."
    return (
        f'<h2>The tree</h2>\n<figure id="drawing"><div class="wide">{tree_svg(facts)}</div>'
        f'<figcaption><div class="legend">{"".join(legend)}</div>'
        f"Two samples meet at the height at which their clusters were joined. "
        f"The background colors show the clusters{arcs}.{not_drawn}</figcaption></figure>\n{find}"
    )


def _map(facts: Facts) -> str:
    found = facts.map
    if found is None:
        return ""
    some = (
        f" {len(found.points):,} of {found.n_samples:,} samples are drawn."
        if len(found.points) < found.n_samples
        else ""
    )
    return (
        f'<h2>The map</h2>\n<figure class="map">{map_svg(found)}<figcaption>The samples in the plane that shows most '
        f"of their spread; samples close on the map need not be close in the data.{some}</figcaption></figure>"
    )


def _kinds(facts: Facts) -> str:
    if not facts.kinds:
        return ""
    rows = "".join(
        f"<tr><td>{MEANING[k.kind][0]}<br><span class='soft'>{MEANING[k.kind][2]}</span></td>"
        f"<td class='n'>{k.said:,}</td><td class='n {'yes' if k.held == k.said else 'no'}'>{k.held:,}</td></tr>"
        for k in facts.kinds
    )
    head = '<tr><th>statement</th><th class="n">given</th><th class="n">hold</th></tr>'
    return f"<h2>{STATEMENTS}</h2>\n<div class='wide'><table>{head}{rows}</table></div>"


def _scores(facts: Facts) -> str:
    if not facts.scores:
        return ""
    rows = "".join(
        f"<tr><td>{safe(s.name)}</td><td class='n'>{s.before:.3f}</td><td class='n'><b>{s.after:.3f}</b></td></tr>"
        for s in facts.scores
    )
    head = '<tr><th></th><th class="n">without constraints</th><th class="n">with constraints</th></tr>'
    return f"<h2>Before and after</h2>\n<div class='wide'><table>{head}{rows}</table></div>"


def _statements(facts: Facts) -> str:
    if not facts.statements:
        return ""
    marks = {True: "<span class='yes'>✓</span>", False: "<span class='no'>✗ broken</span>"}
    rows = "".join(f"<li>{marks[s.held]} <code>{safe(s.text)}</code></li>" for s in facts.statements)
    more = more_of(len(facts.statements), facts.n_statements, ", which hold or are counted above")
    open_now = " open" if facts.n_broken else ""
    count = many(facts.n_statements, "statement")
    return f'<details{open_now}><summary>{count}, one by one</summary><ul class="said">{rows}</ul>{more}</details>'


def _recipe(facts: Facts) -> str:
    return f"<h2>{REPEAT}</h2>\n<pre><code>{safe(facts.recipe, 100_000)}</code></pre>" if facts.recipe else ""


def _scripts(facts: Facts) -> str:
    data = ""
    if facts.names and facts.sketch is not None:
        names = [name if len(name) <= 120 else name[:119] + "…" for name in facts.names]
        data = (
            f'<script type="application/json" id="names">{script_json(names)}</script>\n'
            f'<script type="application/json" id="labels">{script_json(facts.name_labels)}</script>\n'
        )
    return f"{data}<script>\n{_asset('page.js')}</script>"
