"""Where statements come from: taxonomies, labels, groups, traces, duplicates and existing clusterings."""

from linkwise.sources._taxonomy import Taxonomy

__all__ = ["Taxonomy"]
