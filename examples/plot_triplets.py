"""
Triplets shape a tree
=====================

A triplet ab|c says that a and b belong together rather than with c. ``ReCon`` builds a tree in which every
triplet holds.
"""

# %%
import matplotlib.pyplot as plt

from linkwise import Constraints, ReCon
from linkwise.plots import plot_dendrogram

names = ["otter", "mink", "seal", "trout", "salmon", "carp"]
X = [[0.7, 1.0], [0.4, 0.3], [1.6, 2.0], [0.5, 2.0], [0.9, 2.0], [0.6, 2.0]]
known = Constraints.from_ids(names, triplets=[("otter", "seal", "trout"), ("otter", "mink", "carp")])
model = ReCon(2).fit(X, constraints=known)
plot_dendrogram(model.dendrogram_, labels=model.labels_, ids=names, ax=plt.subplots(layout="constrained")[1])

# %%
print(model.certificate_)
