"""The sets the papers use: what they are, how large they must be, and who hands them out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BUNDLED", "CATALOGUE", "Entry"]


@dataclass(frozen=True)
class Entry:
    """One set of the catalogue.

    ``shape`` is samples, features and classes. ``openml`` is the name and version there; ``keep`` and ``drop`` then
    say which classes and columns make the set, ``complete`` that samples with missing values are left out.
    """

    shape: tuple[int, int, int]
    what: str
    openml: tuple[str, int] | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    complete: bool = False


# Handed out with scikit-learn, so always there.
BUNDLED = {
    "iris": "load_iris",
    "wine": "load_wine",
    "digits": "load_digits",
    "breast_cancer": "load_breast_cancer",
}

CATALOGUE: dict[str, Entry] = {
    "iris": Entry((150, 4, 3), "Three species of iris, measured in four ways."),
    "wine": Entry((178, 13, 3), "Chemical analyses of wines from three growers."),
    "digits": Entry((1797, 64, 10), "Written digits as pictures of 8 by 8 dots."),
    "breast_cancer": Entry((569, 30, 2), "Diagnostic Wisconsin breast cancer: cell nuclei in images."),
    "breast": Entry((699, 9, 2), "Original Wisconsin breast cancer; 16 values are missing.", ("breast-w", 1)),
    "census_adult": Entry((48842, 14, 2), "Adults of a census and whether they earn above 50,000.", ("adult", 2)),
    "crabs": Entry((200, 5, 2), "Rock crabs of two species; their first principal component is mere size."),
    "crabs_sexsp": Entry((200, 5, 4), "The same crabs by species and sex: two levels of classes."),
    "digits_389": Entry((3165, 16, 3), "Pen strokes of the digits 3, 8 and 9.", ("pendigits", 1), ("3", "8", "9")),
    "glass": Entry((214, 9, 6), "Splinters of glass and the kind of glass they come from.", ("glass", 1)),
    "ionosphere": Entry((351, 34, 2), "Radar echoes of the ionosphere, good and bad.", ("ionosphere", 1)),
    "letter": Entry((20000, 16, 26), "Printed capital letters, described by 16 numbers.", ("letter", 1)),
    "letters_ijlt": Entry((3059, 16, 4), "The letters I, J, L and T of `letter`.", ("letter", 1), ("I", "J", "L", "T")),
    "pendigits": Entry((10992, 16, 10), "Pen strokes of the ten digits.", ("pendigits", 1)),
    "pendigits_38": Entry((2110, 16, 2), "Pen strokes of the digits 3 and 8.", ("pendigits", 1), ("3", "8")),
    "pima": Entry((768, 8, 2), "Diabetes among the Pima.", ("diabetes", 1)),
    "soybean": Entry((562, 35, 15), "Diseases of soybeans, samples without gaps.", ("soybean", 1), complete=True),
    "soybean_large_all": Entry((683, 35, 19), "Diseases of soybeans, all samples.", ("soybean", 1)),
    "transfusion": Entry(
        (748, 4, 2), "Blood donors and whether they came back.", ("blood-transfusion-service-center", 1)
    ),
    "vote": Entry((435, 16, 2), "Votes in the House of 1984 by party.", ("vote", 1)),
    "zoo": Entry(
        (101, 16, 7), "Animals and what they have; a taxonomy of their classes.", ("zoo", 1), drop=("animal",)
    ),
    "re0": Entry((1504, 2886, 13), "Reuters news, counts of words.", ("re0.wc", 1)),
    "re1": Entry((1657, 3758, 25), "Reuters news, counts of words.", ("re1.wc", 1)),
    "tr11": Entry((414, 6429, 9), "TREC news, counts of words.", ("tr11.wc", 1)),
    "tr23": Entry((204, 5832, 6), "TREC news, counts of words.", ("tr23.wc", 1)),
    "tr31": Entry((927, 10128, 7), "TREC news, counts of words.", ("tr31.wc", 1)),
    "tr41": Entry((878, 7454, 10), "TREC news, counts of words.", ("tr41.wc", 1)),
    "banksearch_lda": Entry((10970, 4005, 11), "Web pages on a taxonomy; stand-in features, not the pages' own words."),
    "banksearch_lda_100": Entry((1100, 2275, 11), "The first hundred pages of each class of `banksearch_lda`."),
    "classic3": Entry((3891, 4303, 3), "Abstracts from medicine, information science and aeronautics."),
    "cstr": Entry((475, 1000, 4), "Abstracts of technical reports in computer science."),
    "k1a": Entry((2340, 21839, 20), "WebACE pages with all terms; classes nest in those of `k1b`."),
    "k1b": Entry((2340, 21839, 6), "The pages of `k1a` with coarse classes."),
    "webace": Entry((2340, 1000, 20), "Web pages, a thousand terms."),
    "newsgroups20": Entry((18820, 32896, 20), "Postings to twenty newsgroups, with the tree of their names."),
    "news_different_3": Entry((300, 8762, 3), "Postings to three newsgroups that have little in common."),
    "news_related_3": Entry((300, 9529, 3), "Postings to three related newsgroups."),
    "news_similar_3": Entry((300, 7161, 3), "Postings to three similar newsgroups."),
    "news_tree_100": Entry((2000, 22196, 20), "A hundred postings to each of twenty newsgroups."),
    "rcv1_topics": Entry((27613, 47236, 101), "Reuters news with their topics, several for each text."),
    "reuters1_like": Entry((785, 47236, 11), "Reuters news on eleven nodes of the topic tree, inner ones too."),
    "reuters2_like": Entry((711, 47236, 8), "Reuters news about markets: alike topics, inner nodes too."),
    "reuters21578": Entry((8293, 18933, 65), "Reuters news of 1987, counts of words."),
    "reuters10": Entry((7285, 18221, 10), "The ten largest classes of `reuters21578`."),
    "reuters10_2900": Entry((2900, 1000, 10), "A sample of `reuters10` with a thousand terms."),
    "reuters_r52": Entry((9100, 8622, 52), "Reuters news of one topic each."),
    "reuters_r8": Entry((7674, 8342, 8), "The eight largest topics of `reuters_r52`."),
}
