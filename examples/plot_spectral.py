"""
Clusters that are connected rather than round
=============================================

Two circles, one inside the other. ``SpectralLearning`` follows near neighbors, and a few statements hold
in its clusters.
"""

# %%
import matplotlib.pyplot as plt

from linkwise.datasets import circles
from linkwise.engines import SpectralLearning
from linkwise.metrics import adjusted_rand
from linkwise.plots import plot_links
from linkwise.sources import label_pairs

data = circles(160, random_state=0)
known = label_pairs(data.y, 20, random_state=0)
model = SpectralLearning(2, random_state=0).fit(data.X, constraints=known)
print(f"adjusted Rand index {adjusted_rand(data.y, model.labels_):.2f}")
plot_links(data.X, known, labels=model.labels_, ax=plt.subplots(layout="constrained")[1])
