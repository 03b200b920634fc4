"""
Check the clusters of another program
=====================================

``verify`` counts the statements that hold in any labels, wherever they come from. Here they are those of k-means.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from linkwise import verify
from linkwise.datasets import stormclouds
from linkwise.plots import plot_links
from linkwise.sources import label_pairs

data = stormclouds(150, random_state=0)
known = label_pairs(data.y, 20, random_state=0)
labels = KMeans(2, n_init=5, random_state=0).fit_predict(data.X)
certificate = verify(labels, known)
print(certificate)

# %%
# Statements that are broken are drawn thick.
plot_links(data.X, known, labels=labels, ax=plt.subplots(layout="constrained")[1])
