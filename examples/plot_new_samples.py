"""
Where new samples go
====================

A fitted method assigns samples that it has not seen. Gray lines show where the next cluster begins.
"""

# %%
# Four heaps, and a must-link between the upper ones, which their neighbors follow.
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedCompleteLink, Constraints
from linkwise.plots import plot_links

rng = np.random.default_rng(0)
X = np.repeat([[0, 0], [4, 0], [0, 3], [4, 3]], 15, axis=0) + 0.5 * rng.normal(size=(60, 2))
known = Constraints.build(60, must_link=[(30, 45)])
model = ConstrainedCompleteLink(3).fit(X, constraints=known)

x, y = np.meshgrid(np.linspace(-2, 6, 160), np.linspace(-2, 5, 140))
joins = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)

ax = plt.subplots(layout="constrained")[1]
plot_links(X, known, labels=model.labels_, ax=ax)
ax.contour(x, y, joins, levels=[0.5, 1.5], colors="gray", linewidths=1)
