"""
Bounds on the sizes of clusters
===============================

No cluster below 15 samples and none above 25: a rule, which holds in the result like any other hard statement.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from linkwise import Constraints, COPKMeans
from linkwise.constraints import SizeBetween
from linkwise.plots import plot_links

X, _ = make_blobs([40, 12, 8], centers=[[0, 0], [4, 0], [2, 3]], random_state=0)
known = Constraints.build(60, rules=SizeBetween(15, 25))
model = COPKMeans(3, random_state=0).fit(X, constraints=known)
print(np.bincount(model.labels_))
plot_links(X, None, labels=model.labels_, ax=plt.subplots(layout="constrained")[1])
