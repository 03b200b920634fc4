"""
Several trees, and one for other programs
=========================================

Four samples that must all be apart cannot end in one cluster, so merging leaves four trees. ``joined`` puts them below
one root, as most programs expect.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.plots import plot_dendrogram

X = np.random.default_rng(0).normal(size=(24, 2))
apart = Constraints.build(24, apart=[[0, 1, 2, 3]])
model = ConstrainedAgglomerative(4).fit(X, constraints=apart)
print(model.dendrogram_.n_roots, "trees")
print("the root in Newick:", model.dendrogram_.to_newick(join=True).rpartition(")")[2])

# %%
plot_dendrogram(model.dendrogram_, labels=model.labels_, ax=plt.subplots(layout="constrained")[1])
