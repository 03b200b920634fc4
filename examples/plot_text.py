"""
Notes under headings
====================

Some notes are filed under headings. The others follow, compared by their words.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer

from linkwise import ReCon, Taxonomy
from linkwise.plots import plot_dendrogram

notes = {
    "cup final": "late goal wins the cup for the home team",
    "transfer": "the team pays a record sum for a striker",
    "marathon": "a runner wins the race in record time",
    "moon": "the probe lands on the far side of the moon",
    "comet": "astronomers watch a comet pass the moon",
    "rocket": "a new rocket carries the probe into orbit",
    "soup": "simmer the onion soup with salt and thyme",
    "bread": "knead the dough with salt and let it rise",
}
filed = ["sport/football", "sport/football", "sport/running", "science/space", "science/space", None, None, None]
said = Taxonomy.from_paths(filed, ids=list(notes)).triplets()
words = TfidfVectorizer(stop_words="english").fit_transform(notes.values())
model = ReCon(3, linkage="average", metric="cosine", min_cluster_size=1).fit(words, constraints=said)
plot_dendrogram(model.dendrogram_, labels=model.labels_, ids=list(notes), ax=plt.subplots(layout="constrained")[1])
print(model.certificate_)
