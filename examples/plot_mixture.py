"""
Overlapping clusters
====================

Two clusters cross. With statements about a few pairs, a mixture of Gaussians finds both, and says how sure it is.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedGaussianMixture
from linkwise.sources import label_pairs

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(80, 2)) * [3, 0.4], rng.normal(size=(80, 2)) * [0.4, 3]])
y = np.repeat([0, 1], 80)
known = label_pairs(y, 40, random_state=0)
model = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=known)
print(model.certificate_)

# %%
# Dark samples surely belong to one of the two, light ones could be of either.
sure = model.predict_proba(X)[:, 0]
ax = plt.subplots(layout="constrained")[1]
drawn = ax.scatter(*X.T, c=sure, cmap="PuOr", edgecolor="gray", linewidth=0.5, vmin=0, vmax=1)
plt.colorbar(drawn, label="probability of cluster 0")
