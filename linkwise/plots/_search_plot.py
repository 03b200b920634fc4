"""Plot of a search: the score of each candidate on held-out statements against one parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError
from linkwise.plots._style import axes_for, cluster_color

_MARKS = "osD^vP*X"
_MOST_INSIDE = 5  # entries of a legend for which there is usually room between the lines


def plot_search(search: Any, param: str | None = None, *, title: str | None = None, ax: Any = None) -> Any:
    """Draw the score of each candidate with its standard error against a parameter, the chosen one marked.

    Parameters
    ----------
    search : KnowledgeSearchCV
        A fitted search.
    param : str, optional
        The parameter along the horizontal axis, such as ``"linkage"``. By default the number of clusters if it was
        searched, else the first parameter that was.
    title, ax : str and matplotlib Axes, optional
        Heading of the picture, and where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Candidates that differ only in the parameter are joined by a line. Candidates that could not be fitted have no
    score; a cross on the horizontal axis, below all scores, stands where they would be.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import ConstrainedAgglomerative, KnowledgeSearchCV
    >>> from linkwise.plots import plot_search
    >>> from linkwise.sources import label_pairs
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KnowledgeSearchCV(ConstrainedAgglomerative(linkage="ward"), {"n_clusters": [2, 3, 4]}, random_state=0)
    >>> plot_search(search.fit(X, constraints=label_pairs(y, 40, 0))).get_xlabel()
    'n_clusters'
    """
    results = getattr(search, "cv_results_", None)
    if results is None:
        msg = "plot_search: the search is not fitted.\nHint: call `search.fit(X, constraints=...)` first."
        raise LinkwiseError(msg)
    name, names = _parameter(results, param)
    values = [_value(params, names) for params in results["params"]]
    places = _places(values)
    ax = axes_for("plot_search", ax, (8.4, 4.2))
    mean, error = results["mean_test_score"], results["se_test_score"]
    lines: dict[str, list[int]] = {}
    for at, params in enumerate(results["params"]):
        rest = {key.rpartition("__")[2]: value for key, value in params.items() if key not in names}
        words = ", ".join(f"{key}={value!r}" for key, value in rest.items())
        lines.setdefault(f"{results['method'][at]}({words})" if words else str(results["method"][at]), []).append(at)
    for number, (label, unsorted) in enumerate(lines.items()):
        members = sorted(unsorted, key=lambda at: places[values[at]])
        color = cluster_color(number)
        x = np.array([places[values[at]] for at in members], dtype=np.float64)
        shift = 0.04 * (number - (len(lines) - 1) / 2)  # lest error bars hide each other
        ax.errorbar(
            x + shift,
            mean[members],
            np.nan_to_num(error[members]),
            color=color,
            marker=_MARKS[number % len(_MARKS)],
            markersize=4,
            linewidth=1.2,
            elinewidth=0.7,
            capsize=2,
            label=label,
        )
        if search.best_index_ in members:
            at = x[members.index(search.best_index_)] + shift
            ax.scatter(
                [at], [mean[search.best_index_]], s=150, facecolors="none", edgecolors="black", zorder=5, label="chosen"
            )
    _draw_failed(ax, [places[values[at]] for at in np.flatnonzero(~np.isfinite(mean))])
    if any(not isinstance(value, (int, float)) for value in values):
        ax.set_xticks(list(places.values()), [str(value) for value in places])
    else:
        ax.set_xticks(sorted(set(places.values())))
    ax.set_xlabel(name)
    scoring = search.scoring if isinstance(search.scoring, str) else "score"
    ax.set_ylabel(f"{scoring} on held-out statements")
    many = len(ax.get_legend_handles_labels()[1]) > _MOST_INSIDE  # these would lie on the lines
    ax.legend(frameon=False, fontsize=7, **({"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if many else {}))
    ax.spines[["top", "right"]].set_visible(False)
    if title is not None:
        ax.set_title(title, loc="left")
    return ax


def _parameter(results: dict[str, Any], param: str | None) -> tuple[str, set[str]]:
    """Return the parameter to draw and all its names; in a pipeline the name of the step is a prefix."""
    searched = list(dict.fromkeys(key for params in results["params"] for key in params))
    short = list(dict.fromkeys(key.rpartition("__")[2] for key in searched))
    if not searched:
        msg = "plot_search: no parameter was searched.\nHint: `print(search.table())` shows the candidates."
        raise LinkwiseError(msg)
    wanted = param or ("n_clusters" if "n_clusters" in short else short[0])
    names = {key for key in searched if key == wanted or key.rpartition("__")[2] == wanted}
    if not names:
        msg = f"plot_search: param is {wanted!r}, expected a searched parameter: {', '.join(searched)}."
        raise LinkwiseError(msg)
    return wanted, names


def _value(params: dict[str, Any], names: set[str]) -> Any:
    value = next((value for key, value in params.items() if key in names), None)
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float, str)) else str(value)


def _places(values: list[Any]) -> dict[Any, float]:
    """Return the position of each value: numbers at their values, words one after the other."""
    kinds = list(dict.fromkeys(values))
    if all(isinstance(value, (int, float)) for value in kinds):
        return {value: float(value) for value in kinds}
    return {value: float(at) for at, value in enumerate(kinds)}


def _draw_failed(ax: Any, places: list[float]) -> None:
    """Draw a cross on the horizontal axis, below all scores, for each candidate without a score."""
    if places:
        ax.update_datalim([(place, 0.0) for place in places], updatey=False)
        ax.autoscale_view()
        ax.scatter(
            places,
            [0.0] * len(places),
            transform=ax.get_xaxis_transform(),  # across as the data, upward as the frame
            clip_on=False,
            marker="x",
            color="0.5",
            s=18,
            linewidths=0.8,
            zorder=5,
            label="could not be fitted",
        )
