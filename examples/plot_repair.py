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
# What is left can hold. Here are the samples, and the statements that were kept.
kept = found.kept
print(check(kept).status)
plot_links(data.X, kept, labels=data.y, title="Statements after the repair", ax=plt.subplots()[1])
