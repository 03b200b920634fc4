"""
Two statements about pairs
==========================

A must-link puts two samples into one cluster, a cannot-link keeps two apart. Here average linkage follows the shape of
the points; two statements are enough to turn the answer around, and both of them hold in it.
"""

# %%
# Four heaps at the corners of a rectangle. Left to itself, average linkage takes the two near sides.
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.plots import plot_links

rng = np.random.default_rng(0)
corners = np.array([[0, 0], [4, 0], [0, 3], [4, 3]])
X = np.repeat(corners, 12, axis=0) + 0.45 * rng.normal(size=(48, 2))
plain = ConstrainedAgglomerative(2).fit(X)

# %%
# Sample 0 belongs with sample 13, and not with 25.
known = Constraints.build(48, must_link=[(0, 13)], cannot_link=[(0, 25)])
model = ConstrainedAgglomerative(2).fit(X, constraints=known)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_links(X, known, labels=plain.labels_, title="Without statements", ax=left)
plot_links(X, known, labels=model.labels_, title="With two statements", ax=right)

# %%
# The certificate comes from code that shares nothing with the method.
model.certificate_
