"""
A few labels
============

Some samples have a label, most have none. Samples with the same label belong together, those with different labels are
apart; ``None`` means unknown.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.datasets import circles
from linkwise.plots import plot_links

data = circles(120, random_state=0)
labels = np.full(120, None)
for row in range(0, 120, 10):
    labels[row] = ["outside", "inside"][data.y[row]]
said = Constraints.from_labels(labels)
print(said)

# %%
model = ConstrainedAgglomerative(2, linkage="single").fit(data.X, constraints=said)
print(model.certificate_)
plot_links(data.X, said, labels=model.labels_, ax=plt.subplots(layout="constrained")[1])
