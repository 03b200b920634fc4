"""Learn a metric from 30 triplets, and see what it does to handwritten digits.

python examples/learn_a_metric.py picture.png

The cells (# %%) also run one by one in an editor that knows them. Needs the extra ``plot``; takes a few seconds.
"""

# %% Handwritten 3, 5 and 9: 8 x 8 pixels each, many of which look alike
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from linkwise import Kind
from linkwise.engines import LSML
from linkwise.sources import label_triplets_sample

DIGITS = np.array([3, 5, 9])
pixels, digit = load_digits(return_X_y=True)
chosen = np.isin(digit, DIGITS)
X, y = pixels[chosen] / 16, np.searchsorted(DIGITS, digit[chosen])

# %% Thirty trios, and which two of each belong together: a and b rather than c
said = label_triplets_sample(y, 30, random_state=2)
trios = said.of(Kind.TRIPLET)

# %% The metric that agrees, and stays as near to Euclid's as it can
metric = LSML(loss="margin").fit(X, constraints=said)
Z = metric.transform(X)


# %% Does it help with digits without statements? Clusters before and after, judged on those alone
def find_digits(space: Any) -> Any:
    """Cluster by K-Means, and name each cluster after the digit it holds most of, no digit twice."""
    cluster = KMeans(3, n_init=10, random_state=0).fit_predict(space)
    return linear_sum_assignment(-confusion_matrix(y, cluster).T)[1][cluster]


found = {
    "Before: Euclidean distance": (X, find_digits(X)),
    "After 30 triplets: the learned metric": (Z, find_digits(Z)),
}
unnamed = np.setdiff1d(np.arange(len(y)), trios)
for title, (_, labels) in found.items():
    score = adjusted_rand_score(y[unnamed], labels[unnamed])
    print(f"{title}: adjusted Rand index {score:.2f} over the {len(unnamed)} digits without statements")

# %% The picture: a few of the triplets, then both spaces from the side that shows most of each
COLORS = ["#0072b2", "#e69f00", "#009e73"]  # told apart by readers with any color vision
LARGE: dict[str, Any] = {"fontsize": 22, "weight": "bold", "ha": "center", "va": "center"}
figure = plt.figure(figsize=(10, 6.2), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[1, 3.6])

top.text(0.5, 0.86, "Six of the 30 triplets: the first two belong together rather than with the third", ha="center")
kinds = y[trios[:, 0]] * len(DIGITS) + y[trios[:, 2]]
for place, first in enumerate(np.unique(kinds, return_index=True)[1]):
    for position, sample in enumerate(trios[first]):
        ax = top.add_axes((0.022 + 0.163 * place + 0.043 * position + 0.01 * (position == 2), 0.1, 0.042, 0.62))
        ax.imshow(X[sample].reshape(8, 8), cmap="gray_r", interpolation="bilinear")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set(color=COLORS[y[sample]], linewidth=2)

for ax, (title, (space, labels)) in zip(bottom.subplots(1, 2), found.items(), strict=True):
    flat = PCA(2).fit_transform(space)
    flat *= np.sign(flat[y == 0].mean(axis=0))  # an axis has no direction of its own: let both panels have the same
    wrong = labels != y
    for k, color in enumerate(COLORS):
        ax.scatter(*flat[y == k].T, s=14, color=color, alpha=0.75, linewidths=0, label=f"digit {DIGITS[k]}")
        disc = {"boxstyle": "circle,pad=0.15", "fc": "white", "ec": color, "alpha": 0.85}
        ax.text(*np.median(flat[y == k], axis=0), str(DIGITS[k]), color=color, bbox=disc, **LARGE)
    ax.scatter(*flat[wrong].T, s=34, facecolors="none", edgecolors="black", linewidths=0.7, label="in a wrong cluster")
    ax.set_title(f"{title}\nK-Means puts {wrong.sum()} of {len(y)} digits into a wrong cluster", fontsize=10.5)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)
bottom.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, markerscale=1.6)

# %% Keep it where told, or show it
if len(sys.argv) > 1:
    figure.savefig(Path(sys.argv[1]), dpi=110)
else:
    plt.show()
