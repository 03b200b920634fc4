"""
Statements that may be broken, at a price
=========================================

A statement with a weight is soft: it may be broken where the data speak against it strongly enough.
"""

# %%
# The same two false must-links, once light and once heavy.
import matplotlib.pyplot as plt
import numpy as np

from linkwise import Constraints, PCKMeans
from linkwise.plots import plot_links

rng = np.random.default_rng(1)
X = np.concatenate([rng.normal(0, 0.5, (30, 2)), rng.normal(3, 0.5, (30, 2))])

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, weight in zip(axes, (1, 100), strict=True):
    said = Constraints.build(60, must_link=[(0, 30), (1, 31)], weight=weight)
    model = PCKMeans(2, random_state=0).fit(X, constraints=said)
    plot_links(X, said, labels=model.labels_, title=f"weight {weight}", ax=ax)
    print(f"weight {weight}: {model.certificate_}")
