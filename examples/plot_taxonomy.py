"""
A hierarchy you have
====================

A taxonomy of some samples says much about all of them: its clades are branches of the tree, and give them their names.
"""

# %%
import matplotlib.pyplot as plt

from linkwise import ReCon, Taxonomy
from linkwise.plots import plot_dendrogram
from linkwise.report import gather_facts

species = ["lion", "puma", "lynx", "wolf", "fox", "seal", "walrus", "otter"]
X = [[5, 0, 9], [4, 0, 9], [3, 0, 9], [4, 0, 2], [2, 0, 2], [4, 9, 1], [7, 9, 1], [2, 8, 2]]  # size, water, claws
known = Taxonomy.from_newick("((lion,puma)cats,((wolf,fox)dogs,(seal,walrus)seals)dog_like)carnivores;", ids=species)
model = ReCon(3, min_cluster_size=1).fit(X, constraints=known.triplets())
print(model.certificate_)

# %%
# Lynx and otter are not in the taxonomy; their measurements put them into a branch.
facts = gather_facts(model, X=X, constraints=known.triplets(), taxonomies=[known])
figure, ax = plt.subplots(layout="constrained")
plot_dendrogram(
    model.dendrogram_, labels=model.labels_, ids=species, names=facts.cluster_names, node_names=facts.node_names, ax=ax
)
