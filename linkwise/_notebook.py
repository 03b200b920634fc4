"""Cards for notebooks: what ``print`` shows of an object, with bars and tables, light and dark.

A card loads nothing, and every text in it is escaped. Its colors are those of the report page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

__all__ = ["Bar", "Table", "Tone", "bars", "card", "grid"]

Tone = Literal["good", "bad", "none"]
_MARK = {"good": "✓", "bad": "✗", "none": ""}
LIGHT = (
    "--paper: #ffffff; --ink: #1f2933; --soft: #5f6b7a; --line: #e3e7ec; --card: #f6f8fa; --branch: #8b95a1; "
    "--good: #147a3a; --bad: #c81e1e; --good-bg: #e7f5ec; --bad-bg: #fdecec; --accent: #2f6db5"
)
DARK = (
    "--paper: #14181d; --ink: #e4e9ee; --soft: #9aa6b2; --line: #2b333c; --card: #1c2229; --branch: #7d8894; "
    "--good: #4ade80; --bad: #f87171; --good-bg: #16301f; --bad-bg: #3a1b1b; --accent: #7fb2e8"
)
# Notebooks and documentation name their theme in these attributes and classes; elsewhere the system's choice counts.
_IS_LIGHT = ':is([data-jp-theme-light="true"], .vscode-light, [data-theme="light"], [theme="light"])'
_IS_DARK = ':is([data-jp-theme-light="false"], .vscode-dark, [data-theme="dark"], [theme="dark"])'
_STYLE = f"""<style>
.linkwise {{ {LIGHT} }}
@media (prefers-color-scheme: dark) {{ .linkwise {{ {DARK} }} }}
{_IS_LIGHT} .linkwise {{ {LIGHT} }}
{_IS_DARK} .linkwise {{ {DARK} }}
.linkwise {{ color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 10px; \
padding: .7rem .9rem; max-width: 46rem; font: 14px/1.5 system-ui, sans-serif; overflow-x: auto }}
.linkwise p {{ margin: .35rem 0 }}
.linkwise .head {{ background: var(--card); border-radius: 7px; padding: .45rem .7rem; \
margin: 0 0 .5rem; font-weight: 600 }}
.linkwise .good {{ background: var(--good-bg) }} .linkwise .good b {{ color: var(--good) }}
.linkwise .bad {{ background: var(--bad-bg) }} .linkwise .bad b {{ color: var(--bad) }}
.linkwise ul {{ margin: .2rem 0 .5rem; padding-left: 1.2rem }} .linkwise li {{ margin: .1rem 0; color: var(--ink) }}
.linkwise.linkwise li code {{ font: .9em/1.5 ui-monospace, Menlo, Consolas, monospace; color: inherit; \
background: none; padding: 0 }}
.linkwise table {{ border-collapse: collapse; margin: .4rem 0; font-size: 13px; font-variant-numeric: tabular-nums; \
border: 0; color: inherit; background: none }}
.linkwise.linkwise tr:nth-child(n) {{ background: none }}
.linkwise.linkwise :is(th, td) {{ text-align: left; padding: .2rem .9rem .2rem 0; border: 0; \
border-bottom: 1px solid var(--line); background: none; color: inherit; font-weight: 400; white-space: nowrap }}
.linkwise.linkwise th {{ color: var(--soft) }}
.linkwise.linkwise .chosen td {{ font-weight: 600; background: var(--good-bg) }}
.linkwise u {{ display: block; border-radius: 3px; background: var(--line) }}
.linkwise i {{ display: block; height: .55rem; border-radius: 3px; background: var(--accent) }}
.linkwise td.bar {{ width: 12rem; min-width: 12rem }} .linkwise i.short {{ background: var(--bad) }}
.linkwise svg {{ display: block; width: 100%; height: auto }}
</style>"""


class Bar(NamedTuple):
    """A row with a bar: its name, the share that the bar fills, its figure, and whether the bar warns."""

    name: str
    share: float
    figure: str
    short: bool = False


class Table(str):
    """Text whose last line in a cell shows as it prints, and as a table where a notebook can show one."""

    html: str
    __slots__ = ("html",)

    def __new__(cls, text: str, html: str = "") -> Table:
        """Make the text, and keep its other form."""
        made = super().__new__(cls, text)
        made.html = html
        return made

    def __str__(self) -> str:
        return str.__str__(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html


def card(text: str, *, tone: Tone = "none", more: str = "") -> str:
    """Lay out a text as a card: its first line as a banner, lines that are set in as lists, then ``more`` as it is.

    ``more`` is HTML, made by `bars` or `grid`; it comes after the banner.
    """
    head, *rest = text.split("\n")
    mark = f"<b>{_MARK[tone]}</b> " if _MARK[tone] else ""
    parts = [f'<p class="head {tone}">{mark}{_safe(head)}</p>', more]
    for inside, lines in groupby(rest, key=lambda line: line.startswith("  ")):
        if inside:
            parts.append(f"<ul>{''.join(map(_item, lines))}</ul>")
        else:
            parts += [f"<p>{_safe(line)}</p>" for line in lines if line]
    return f'<div class="linkwise">{_STYLE}{"".join(parts)}</div>'


def _item(line: str) -> str:
    plain = line.strip()
    if plain.startswith(("- ", "...")):
        return f"<li>{_safe(plain.removeprefix('- '))}</li>"
    return f"<li><code>{_safe(plain)}</code></li>"


def bars(rows: Iterable[Bar], note: str = "") -> str:
    """Draw rows with bars, and a note below."""
    cells = "".join(
        f'<tr><td>{_safe(row.name)}</td><td class="bar"><u><i{" class=short" if row.short else ""} '
        f'style="width:{100 * min(max(row.share, 0.0), 1.0):.1f}%"></i></u></td><td>{_safe(row.figure)}</td></tr>'
        for row in rows
    )
    return (f"<table>{cells}</table>" if cells else "") + (f"<p>{_safe(note)}</p>" if note else "")


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], chosen: int = -1) -> str:
    """Draw a table; the row ``chosen`` stands out."""
    top = "".join(f"<th>{_safe(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr{' class=chosen' if at == chosen else ''}>{''.join(f'<td>{_safe(cell)}</td>' for cell in row)}</tr>"
        for at, row in enumerate(rows)
    )
    return f"<table><tr>{top}</tr>{body}</table>"


def _safe(text: object) -> str:
    from html import escape

    return escape(str(text))
