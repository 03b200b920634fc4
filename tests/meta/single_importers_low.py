"""Modules of constraints, trees, results, sources, problems, metrics and data sets that one module imports, and why."""

REASONS = {
    # behind a public class that would not fit on a few screens
    "linkwise.constraints._equal_statements": "equality of statements across tables; the table is long without it",
    "linkwise.trees._exchange": "the half of Dendrogram that reads and writes other notations, documented for users",
    "linkwise.trees._interchange": "the notations themselves as functions on arrays, under the methods of _exchange",
    "linkwise.trees._named_nodes": "readers of text and columns into nodes, before Taxonomy places samples",
    "linkwise.sources._read_taxonomy": "the half of Taxonomy that reads other notations, documented for users",
    "linkwise.sources._taxonomy_nodes": "the arrays of a taxonomy and their checks, before any reader or query",
    "linkwise.result._certificate_rules": "rules about distances, the half of the checker that needs the data",
    # a question of its own, asked by one caller
    "linkwise.problem.feasibility._rule_checks": "rules about clusters; check decides statements without them",
    "linkwise.problem.reasons._meeting": "where two samples meet in a tree; why answers for labels without it",
    "linkwise.problem.repairs._entry_repair": "repair by members of groups and labels instead of whole statements",
    "linkwise.problem.repairs._error_rate": "the estimate of noise, which a repair computes only when asked",
    "linkwise.datasets._local_files": "the format of a folder of data sets; the catalogue and OpenML stay in _load",
    # public functions that the library itself uses in one place only
    "linkwise.problem.entailment._informative": "public: informative",
    "linkwise.problem.entailment._utility": "public: utility",
    "linkwise.problem.reasons._all_conflicts": "public: conflicts",
    "linkwise.problem.reasons._why_pair": "public: why",
    "linkwise.sources._labels": "public: label_pairs, label_triplets_sample, groups",
    "linkwise.sources._noise": "public: flip",
}
