"""Write the page `docs/papers.md` from the table `docs/papers.toml`: ``python docs/write_papers.py``."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

STATUSES = ("here", "differs", "left out")
HEAD = """# The papers, item by item

<!-- Written by docs/write_papers.py from papers.toml; a test compares. -->

Every algorithm, definition, theorem, measure, data set, table and figure of the five papers linkwise comes from:
where it is, which tests check it, and in what it differs from the paper. *Here*: as the paper means it, with slips
corrected as the [errata](errata.md) say. *Differs*: partly here, or with another result; the note says in what. *Left
out*: the note says why, and what to use instead. Names are public names with the parameters that matter in brackets;
commands that start with `linkwise reproduce` compute a figure or table again ([results](reproduced.md)).
"""


def read(path: Path) -> list[dict[str, Any]]:
    """Return the papers of the table, each with its rows."""
    papers: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["paper"]
    return papers


def page(papers: list[dict[str, Any]]) -> str:
    """Return the page as Markdown."""
    lines = [HEAD, "| paper | items | " + " | ".join(STATUSES) + " |", "|---" * (2 + len(STATUSES)) + "|"]
    counts = [Counter(row["status"] for row in paper["row"]) for paper in papers]
    for paper, count in zip(papers, counts, strict=True):
        lines.append(_cells(f"[{_title(paper)}](#{_anchor(paper)})", count.total(), *(count[s] for s in STATUSES)))
    total = sum(counts, Counter())
    lines += [_cells("all", total.total(), *(total[s] for s in STATUSES)), ""]
    for paper in papers:
        lines += [f'<a id="{_anchor(paper)}"></a>', "", f"## {_title(paper)}", "", f"{paper['citation']}.", ""]
        lines += ["| item | status | in linkwise | checked | note |", "|---|---|---|---|---|"]
        lines += [_row(row) for row in paper["row"]]
        lines.append("")
    return "\n".join(lines)


def _title(paper: dict[str, Any]) -> str:
    return f"{paper['number']} {paper['name']}"


def _anchor(paper: dict[str, Any]) -> str:
    return f"paper-{paper['number']}"


def _row(row: dict[str, Any]) -> str:
    where = "; ".join(f"`{name}`" for name in row.get("where", []))
    checks = (check.split("::") for check in row.get("check", []))
    checked = "; ".join(f"[{name.removeprefix('test_').replace('_', ' ')}](../{path})" for path, name in checks)
    errata = ", ".join(f"[{entry}](errata.md#{entry.lower()})" for entry in row.get("errata", []))
    note = " ".join(part for part in (row.get("note", ""), f"Errata: {errata}." if errata else "") if part)
    return _cells(*(text.replace("|", r"\|") for text in (row["item"], row["status"], where, checked, note)))


def _cells(*texts: object) -> str:
    return "| " + " | ".join(map(str, texts)) + " |"


if __name__ == "__main__":
    folder = Path(__file__).parent
    (folder / "papers.md").write_text(page(read(folder / "papers.toml")), encoding="utf-8")
