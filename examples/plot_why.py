"""
Why are these two apart?
========================

``why`` names the statements that force two samples together or apart, or says that the distances decide.
"""

# %%
import matplotlib.pyplot as plt

from linkwise import ConstrainedAgglomerative, Constraints, why
from linkwise.plots import plot_dendrogram

X = [[0.0], [1.0], [4.0], [5.0], [9.0], [10.0]]
known = Constraints.build(6, must_link=[(1, 4)], cannot_link=[(0, 1)])
model = ConstrainedAgglomerative(3).fit(X, constraints=known)
print(why(model, 0, 4, known))

# %%
plot_dendrogram(model.dendrogram_, labels=model.labels_, constraints=known, ax=plt.subplots(layout="constrained")[1])
