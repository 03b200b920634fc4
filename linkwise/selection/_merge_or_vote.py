"""Above 20,000 samples: one tree of all of them, or a vote on some, whichever predicts statements held out."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone

from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.problem.entailment import knowledge_folds
from linkwise.selection._automatic import too_little
from linkwise.selection._scores import score_of, tally

FOLDS = 5  # of which one is held out


def merge_or_vote(merging: Any, voting: Any, X: Any, known: Constraints) -> tuple[Any, str]:
    """Of two estimators, the first unless the second predicts statements held out better; not fitted, with the reason.

    Both are fitted with four fifths of the samples that statements name. Where there are too few statements to hold
    some out, it is the first.
    """
    n = known.n_samples
    lack = too_little(known)
    if lack:
        return merging, f"{n:,} samples are merged along nearest neighbors first; {lack}."
    fold = knowledge_folds(known, FOLDS, random_state=0)[0]
    names, scores, words = [], [], []
    for model in (merging, voting):
        names.append(type(model).__name__)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinkwiseWarning)  # about fits that only serve to compare
                fitted = clone(model).fit(X, constraints=fold.train)
        except LinkwiseError:
            scores.append(float("-inf"))
            words.append(f"{names[-1]} could not be fitted")
            continue
        scores.append(score_of("kappa", tally(fitted.labels_, fitted.dendrogram_, fold.test)))
        words.append(f"{names[-1]} {scores[-1]:.2f}")
    best = 1 if scores[1] > scores[0] else 0
    compared = f"agreement with a fifth of the statements, held out: {words[best]}, {words[1 - best]}"
    return (merging, voting)[best], f"{n:,} samples; {compared}."
