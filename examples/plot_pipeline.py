"""
In a scikit-learn pipeline
==========================

Statements go where labels would go, and are split with the samples in cross-validation.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linkwise import COPKMeans, verify
from linkwise.sources import label_pairs

X, grower = load_wine(return_X_y=True)
known = label_pairs(grower, 300, random_state=0)
pipe = make_pipeline(StandardScaler(), COPKMeans(random_state=0))


def held(model, X, known):
    """Share of the statements about samples that the model has not seen that hold in its prediction."""
    return verify(model.predict(X), known).held.mean()


search = GridSearchCV(pipe, {"copkmeans__n_clusters": range(3, 9)}, scoring=held, cv=5).fit(X, known)
print(search.best_params_)

# %%
numbers = [params["copkmeans__n_clusters"] for params in search.cv_results_["params"]]
ax = plt.subplots(layout="constrained")[1]
ax.plot(numbers, search.cv_results_["mean_test_score"], marker="o")
ax.set(xlabel="number of clusters", ylabel="share of held-out statements that hold")
