"""
Which statements are wrong?
===========================

Some statements contradict no other, and still the data say that they are wrong. ``suspects`` lists them with the
probability that they are.
"""

# %%
# Eighty statements, five of them false.
import matplotlib.pyplot as plt

from linkwise import suspects
from linkwise.datasets import blobs_with_knowledge
from linkwise.plots import plot_links

data, known, wrong = blobs_with_knowledge(90, n_wrong=5, random_state=0)
found = suspects(data.X, known, 3)
print(found)

# %%
# Which ones are false is known here, since they were made so.
print("false:", *wrong.nonzero()[0])
plot_links(data.X, known, labels=data.y, ax=plt.subplots(layout="constrained")[1])
