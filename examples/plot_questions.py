"""
Questions worth an answer
=========================

A ``Dialogue`` chooses the pairs to ask a person about. Here 25 answers to its questions say more than 25 answers about
pairs that were drawn at random. One data set and one draw, so an illustration, not a benchmark.
"""

# %%
# The person is played by the true classes.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from linkwise.active import Dialogue, LabelAnswerer, RandomPairs
from linkwise.metrics import adjusted_rand

X, grower = load_wine(return_X_y=True)
X = scale(X)
budgets = [5, 10, 15, 20, 25]


def quality(strategy):
    """Agreement with the growers after each number of answers."""
    talk, person, scores = Dialogue(X, strategy=strategy, n_clusters=3), LabelAnswerer(grower), []
    for n_answers in range(1, budgets[-1] + 1):
        query = talk.ask()
        talk.tell(query, person(query))
        if n_answers in budgets:
            scores.append(adjusted_rand(grower, talk.fit().labels_))
    return scores


ax = plt.subplots(layout="constrained")[1]
ax.plot(budgets, quality(None), marker="o", label="chosen by Dialogue")
ax.plot(budgets, quality(RandomPairs()), marker="o", linestyle="--", label="drawn at random")
ax.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1))
ax.legend(frameon=False, loc="lower right")
