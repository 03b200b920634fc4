"""
A distance learned from statements
==================================

Two features out of three are noise. ``DiscriminativeRCA`` learns from pairs that belong together, and pairs that do
not, which directions matter.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from linkwise.engines import DiscriminativeRCA
from linkwise.metrics import adjusted_rand
from linkwise.plots import plot_clusters
from linkwise.sources import label_pairs

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 40)
X = np.column_stack([2 * y + 0.4 * rng.normal(size=120), 6 * rng.normal(size=120), 4 * rng.normal(size=120)])
known = label_pairs(y, 40, random_state=0)
bent = DiscriminativeRCA().fit_transform(X, constraints=known)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, rows, title in zip(axes, (X, bent), ("As measured", "Learned"), strict=True):
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(rows)
    plot_clusters(rows, labels, title=f"{title}: adjusted Rand index {adjusted_rand(y, labels):.2f}", ax=ax)
