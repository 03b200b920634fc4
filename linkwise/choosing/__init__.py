"""Who should solve it, judged by what was held out: folds over knowledge, the search, and the front door."""

from linkwise.choosing._choose import Clustering, cluster
from linkwise.choosing._folds import Fold, knowledge_folds
from linkwise.choosing._search import KnowledgeSearchCV

__all__ = ["Clustering", "Fold", "KnowledgeSearchCV", "cluster", "knowledge_folds"]
