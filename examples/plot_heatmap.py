"""
Which columns hold a cluster together?
======================================

The rows of the table in the order of the tree, one column for each feature.
"""

# %%
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from linkwise import ConstrainedAgglomerative
from linkwise.plots import plot_heatmap
from linkwise.sources import label_pairs

wine = load_wine()
X = scale(wine.data)
known = label_pairs(wine.target, 40, random_state=0)
model = ConstrainedAgglomerative(3, linkage="average").fit(X, constraints=known)
names = [name.replace("_", " ") for name in wine.feature_names]
picture = plot_heatmap(X, model.dendrogram_, labels=model.labels_, features=names)
