"""
How many clusters?
==================

``KnowledgeSearchCV`` holds statements out, and keeps the method and the number of clusters that predict them best.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from linkwise import ConstrainedAgglomerative, KnowledgeSearchCV
from linkwise.plots import plot_search
from linkwise.sources import label_pairs

X, grower = load_wine(return_X_y=True)
X = scale(X)
known = label_pairs(grower, 60, random_state=0)
# Where merging cannot reach a number of clusters, the candidate has failed.
grid = {"linkage": ["ward", "average"], "n_clusters": range(2, 8)}
search = KnowledgeSearchCV(ConstrainedAgglomerative(dead_end="raise"), grid, random_state=0).fit(X, constraints=known)
print(search.best_params_)
plot_search(search, ax=plt.subplots(layout="constrained")[1])
