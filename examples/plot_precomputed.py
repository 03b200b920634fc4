"""
Distances instead of features
=============================

Any distances will do, here the number of letters in which words of four letters differ.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.plots import plot_dendrogram

words = ["cold", "cord", "card", "ward", "warm", "wine"]
D = np.array([[float(sum(x != y for x, y in zip(a, b, strict=True))) for b in words] for a in words])
known = Constraints.from_ids(words, cannot_link=[("cold", "cord")])
model = ConstrainedAgglomerative(3, linkage="average", metric="precomputed").fit(D, constraints=known)
plot_dendrogram(model.dendrogram_, labels=model.labels_, ids=words, ax=plt.subplots(layout="constrained")[1])
print(model.certificate_)
