"""Exhibits as files: numbers as CSV, curves as pictures, and one page with a verdict and its rule for each."""

from __future__ import annotations

import base64
import csv
import html
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkwise._files import write_whole
from linkwise.plots import cluster_color
from studies.papers._exhibit import Exhibit, Figure, Found, Panel, Paper, Picture, Table
from studies.papers._verdict_rules import VERDICTS

MARKS = "osD^vP*X"
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1d2430;background:#fff}
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.15rem;margin:2.4rem 0 .3rem}
img{max-width:100%;min-width:34rem;height:auto}.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem}
td,th{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #e3e7ee}
td:first-child,th:first-child{text-align:left}.printed{color:#69758a}
.verdict{display:inline-block;padding:.1rem .55rem;border-radius:1rem;font-size:.8rem;font-weight:600;color:#fff}
.same{background:#2b7a4b}.better{background:#1f5fa8}.different{background:#a35b00}
.not-comparable{background:#69758a}.rule{color:#69758a;font-size:.9rem}
pre{background:#f4f6f9;padding:.6rem .8rem;overflow-x:auto}
@media (prefers-color-scheme:dark){body{color:#dde3ec;background:#14181f}
td,th{border-color:#2c3442}pre{background:#1d232d}
img{background:#fff;border-radius:.3rem}}
"""


def slug(text: str) -> str:
    """A name for files: letters and digits, the rest as dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def table_csv(exhibits: Sequence[Exhibit]) -> str:
    """Every number of a paper as CSV."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["exhibit", "line", "x", "value", "standard_error", "repeats", "printed"])
    for exhibit in exhibits:
        for one in exhibit.found:
            values = (_exact(one.value), _exact(one.error), one.repeats, _exact(one.printed))
            rows.writerow([exhibit.key, one.line, one.x, *values])
    return text.getvalue()


def draw(exhibit: Figure | Picture) -> bytes:
    """Draw an exhibit as PNG."""
    return _panels(exhibit.panels) if isinstance(exhibit, Picture) else _curves(exhibit)


def _panels(panels: Sequence[Panel]) -> bytes:
    """Draw clusters beside each other, three in a row; must-links are lines, cannot-links dashed."""
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure as Canvas

    rows = -(-len(panels) // 3)
    canvas = Canvas(figsize=(9.0, 2.9 * rows), layout="constrained")
    axes = canvas.subplots(rows, 3, squeeze=False).ravel()
    for ax, panel in zip(axes, panels, strict=False):
        colors = [cluster_color(label) for label in panel.labels.tolist()]
        for pairs, style in ((panel.must_link, "solid"), (panel.cannot_link, "dashed")):
            ax.add_collection(LineCollection(list(panel.X[pairs]), colors="#39424e", linewidths=0.8, linestyles=style))
        ax.scatter(*panel.X.T, c=colors, s=9)
        ax.set_title(panel.title, fontsize=9)
    for ax in axes:
        ax.set_axis_off()
    return _png(canvas)


def _curves(figure: Figure) -> bytes:
    """Draw curves with the axes of the paper; printed values are hollow marks."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(7.2, 4.3), layout="constrained")
    ax = canvas.subplots()
    for at, line in enumerate(figure.lines()):
        ours = sorted((one for one in figure.found if one.line == line), key=lambda one: float(one.x))
        x, y = [float(one.x) for one in ours], [one.value for one in ours]
        error = [0.0 if math.isnan(one.error) else 2 * one.error for one in ours]
        color, mark = cluster_color(at), MARKS[at % len(MARKS)]
        ax.errorbar(x, y, yerror_or_none(error), label=line, color=color, marker=mark, markersize=4, capsize=2)
        known = [(float(one.x), one.printed) for one in ours if one.printed is not None]
        if known:
            ax.plot(
                *zip(*known, strict=True), mark, color=color, markerfacecolor="none", markersize=9, linestyle="none"
            )
    if any(one.printed is not None for one in figure.found):
        ax.plot([], [], "o", color="#69758a", markerfacecolor="none", markersize=9, label="printed in the paper")
    ax.set_xlabel(figure.x_label)
    ax.set_ylabel(figure.y_label)
    if figure.log_x:
        ax.set_xscale("symlog", linthresh=1)
    if figure.log_y:
        ax.set_yscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the lines, not on them
    return _png(canvas)


def _png(canvas: Any) -> bytes:
    picture = io.BytesIO()
    canvas.savefig(picture, format="png", dpi=120)
    return picture.getvalue()


def yerror_or_none(error: list[float]) -> list[float] | None:
    """Two standard errors, or nothing where there is but one value each."""
    return error if any(error) else None


def page(paper: Paper, exhibits: Sequence[Exhibit], command: str, notes: Sequence[str] = ()) -> str:
    """Word one self-contained page."""
    say = html.escape
    counts = {verdict: sum(e.verdict == verdict for e in exhibits) for verdict in VERDICTS}
    tally = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{say(paper.name)}, reproduced</title><style>{STYLE}</style>",
        f"<h1>{say(paper.citation)}</h1><p>{say(paper.about)}</p>",
        f"<p>Made by</p><pre>{say(command)}</pre><p>{len(exhibits)} exhibits: {tally}.</p>",
        *(f"<p>{say(note)}</p>" for note in notes),
    ]
    for exhibit in exhibits:
        badge = f"<span class='verdict {slug(exhibit.verdict)}'>{exhibit.verdict}</span>"
        parts.append(f"<h2 id='{slug(exhibit.key)}'>{say(exhibit.key)}: {say(exhibit.title)} {badge}</h2>")
        parts.append(f"<p>{say(exhibit.why)}</p>")
        parts.append(f"<p class=rule>Rule: {say(exhibit.judged.rule)} Repetitions per figure: {exhibit.draws()}.</p>")
        if isinstance(exhibit, (Figure, Picture)):
            coded = base64.b64encode(draw(exhibit)).decode()
            parts.append(
                f"<div class='scroll'><img alt='{say(exhibit.key)}' src='data:image/png;base64,{coded}'></div>"
            )
        else:
            parts.append(_table(exhibit))
    return "\n".join(parts) + "\n"


def write_paper(
    paper: Paper, exhibits: Sequence[Exhibit], folder: Path, command: str, notes: Sequence[str] = ()
) -> list[Path]:
    """Write the page, the numbers and the pictures; return the files."""
    made = {f"{paper.name}.html": page(paper, exhibits, command, notes).encode()}
    made[f"{paper.name}.csv"] = table_csv(exhibits).encode()
    for exhibit in exhibits:
        if isinstance(exhibit, (Figure, Picture)):
            made[f"{paper.name}-{slug(exhibit.key)}.png"] = draw(exhibit)
    for name, content in made.items():
        write_whole(folder / name, content)
    return [folder / name for name in made]


def _table(exhibit: Exhibit) -> str:
    columns = exhibit.columns() if isinstance(exhibit, Table) else []
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    rows = []
    for line in exhibit.lines():
        cells = {str(one.x): one for one in exhibit.found if one.line == line}
        rows.append(
            f"<tr><td>{html.escape(line)}</td>"
            + "".join(f"<td>{_cell(cells.get(column))}</td>" for column in columns)
            + "</tr>"
        )
    printed = any(one.printed is not None for one in exhibit.found)
    note = "<p class=printed>In grey: what the paper prints.</p>" if printed else ""
    return f"<div class=scroll><table><tr><th></th>{head}</tr>{''.join(rows)}</table></div>{note}"


def _cell(one: Found | None) -> str:
    if one is None:
        return ""
    text = _short(one.value)
    if not math.isnan(one.error):
        text += f" ± {_short(one.error)}"
    return text if one.printed is None else f"{text} <span class=printed>({_short(one.printed)})</span>"


def _short(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 1.5 else f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def _exact(value: Any) -> str:
    return "" if value is None or math.isnan(value) else repr(float(value))
