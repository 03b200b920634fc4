"""
At most one per source
======================

Three catalogs list the same stars. No catalog lists a star twice, so the records of one catalog are all apart: one
statement for each catalog, however many records it has.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.plots import plot_clusters

rng = np.random.default_rng(3)
stars = rng.uniform(0, 10, (12, 2))
X = np.concatenate([stars + rng.normal(0, 0.35, stars.shape) for _ in range(3)])
catalog = np.repeat(["A", "B", "C"], 12)

apart = Constraints.from_groups(catalog, say="apart")
model = ConstrainedAgglomerative(12, linkage="complete").fit(X, constraints=apart)
plain = ConstrainedAgglomerative(12, linkage="complete").fit(X)
print(model.certificate_)
print("records per cluster, without and with:", np.bincount(plain.labels_), np.bincount(model.labels_))

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_clusters(X, plain.labels_, title="Distances alone", ax=axes[0])
plot_clusters(X, model.labels_, title="At most one record per catalog", ax=axes[1])
