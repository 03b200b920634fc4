"""The comparison as a table a person reads: who was tried, how well it predicted, and why others could not be."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.choosing._scores import KINDS

__all__ = ["table_of"]

_HEADS = {"must": "must-links", "cannot": "cannot-links", "triplets": "triplets"}


def table_of(results: dict[str, Any], best: int, n_rows: int | None) -> str:
    """Word the results: the winner marked, those tied with it, then the others by score, at last the impossible."""
    mean = results["mean_test_score"]
    order = sorted(range(len(mean)), key=lambda at: (at != best, results["rank_test_score"][at], at))
    fine = [at for at in order if np.isfinite(mean[at])]
    shown = fine if n_rows is None else fine[:n_rows]
    asked = [name for name in KINDS if np.isfinite(results[f"{name}_kept"][fine]).any()]
    rows = [["", "method", "parameters", "score", *(f"{_HEADS[name]} kept" for name in asked), "stability", "clusters"]]
    for at in shown:
        error = results["se_test_score"][at]
        rows.append(
            [
                "*" if at == best else "=" if results["tied"][at] else "",
                str(results["method"][at]),
                str(results["words"][at]),
                f"{mean[at]:.3f}" + (f" +- {error:.3f}" if np.isfinite(error) else ""),
                *(_percent(results[f"{name}_kept"][at]) for name in asked),
                f"{results['stability'][at]:.2f}",
                str(results["n_clusters"][at]),
            ]
        )
    lines = _align(rows)
    if len(shown) < len(fine):
        lines.append(f"and {len(fine) - len(shown)} more.")
    lines.append("* chosen" + ("; = within one standard error of the best" if results["tied"].sum() > 1 else ""))
    failed = [at for at in order if not np.isfinite(mean[at])]
    if failed:
        lines.append(f"{len(failed)} of {len(mean)} failed:")
        limit = len(failed) if n_rows is None else n_rows
        lines += [
            f"  {results['method'][at]}({results['words'][at]}): {results['trouble'][at]}" for at in failed[:limit]
        ]
        lines += [f"  and {len(failed) - limit} more."] if len(failed) > limit else []
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{share:.0%}" if np.isfinite(share) else "-"


def _align(rows: list[list[str]]) -> list[str]:
    width = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, width, strict=True)).rstrip() for row in rows]
