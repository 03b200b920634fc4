"""
The cheapest repair
===================

Of 80 statements five are wrong, and each contradicts the right ones. ``repair`` drops the fewest that
restore consistency.
"""

# %%
import matplotlib.pyplot as plt

from linkwise import check, repair
from linkwise.datasets import blobs_with_knowledge
from linkwise.plots import plot_links

data, known, wrong = blobs_with_knowledge(90, n_wrong=5, random_state=0)
found = repair(known)
print(found)

# %%
# The others can hold together. Colors are the true classes, so the thick statement is false as well: to drop it or #18
# costs the same, and only the data could tell (`linkwise.suspects`).
kept = found.kept
print(check(kept).status)
plot_links(data.X, kept, labels=data.y, title="Statements after the repair", ax=plt.subplots(layout="constrained")[1])
