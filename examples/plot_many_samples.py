"""
Many samples
============

``SparseAgglomerative`` merges along nearest neighbors, so that its memory grows with the number of samples and not with
its square.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from linkwise import SparseAgglomerative
from linkwise.plots import plot_dendrogram
from linkwise.sources import label_pairs

X, y = make_blobs(3000, centers=5, cluster_std=0.9, center_box=(-12, 12), random_state=4)
known = label_pairs(y, 100, random_state=0)
model = SparseAgglomerative(5).fit(X, constraints=known)
print(model.certificate_)
print(np.bincount(model.labels_))

# %%
# The forty largest branches.
plot_dendrogram(model.dendrogram_, labels=model.labels_, max_leaves=40, ax=plt.subplots(layout="constrained")[1])
