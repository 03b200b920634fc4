"""
One call
========

``cluster`` picks a method that suits the samples and the statements, and says why.
"""

# %%
# 178 wines, and 40 pairs of which a taster said whether they come from the same grower.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from linkwise import cluster
from linkwise.metrics import adjusted_rand
from linkwise.plots import plot_clusters
from linkwise.sources import label_pairs

X, grower = load_wine(return_X_y=True)
X = scale(X)
known = label_pairs(grower, 40, random_state=0)
found = cluster(X, known, n_clusters=3, effort="quick")
print(found)

# %%
# Statements that hold are drawn thin.
plot_clusters(X, found.labels, known, ax=plt.subplots(layout="constrained")[1])
print(f"adjusted Rand index {adjusted_rand(grower, found.labels):.2f}")
