"""
A contradiction, explained
==========================

``check`` says whether statements can hold together. If not, it names the few at fault and the changes that repair it.
"""

# %%
import matplotlib.pyplot as plt

from linkwise import Constraints, check
from linkwise.plots import plot_conflict

known = Constraints.build(5, must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(0, 2)])
verdict = check(known)
print(verdict)

# %%
# The same as a graph.
plot_conflict(verdict.explanation, known, ax=plt.subplots(layout="constrained")[1])
