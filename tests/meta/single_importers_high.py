"""Why some modules of cli, io, report, plots and active have a single importer and are not part of it."""

REASONS = {
    "linkwise.cli._cluster_verb": "a verb; `_main` lists the verbs and turns errors into messages and exit codes",
    "linkwise.cli._demo_verb": "a verb",
    "linkwise.cli._result_verbs": "the verbs that read a result",
    "linkwise.cli._statement_verbs": "the verbs that write statements or trees",
    "linkwise.cli._installation_verbs": "the verbs about the installation",
    "linkwise.cli._example": "needs NumPy at its top, which `linkwise --help` must not load",
    "linkwise.io._saved_values": "values to JSON and back, apart from the versions and members of a file",
    "linkwise.io._saved_checks": "the checks that a forged file meets before kernels do, to be read in one piece",
    "linkwise.io._implied_statements": "forms of files that are not lists of statements; `_knowledge` recognizes forms",
    "linkwise.report._comparison": "the effect of constraints; `_gather` collects all other facts",
    "linkwise.report._profiles": "numerics of clusters; `_gather` words nothing and computes nothing",
    "linkwise.report._html": "one of three renderers",
    "linkwise.report._markdown": "one of three renderers",
    "linkwise.report._page_sections": "the longer sections of the page; with them `_html` would have 450 lines",
    "linkwise.plots._heatmap": "a public picture",
    "linkwise.active._placed_tree": "an immutable tree with tests of its own, beside 380 lines of the strategy on it",
    "linkwise.active._triplet_questions": "a public strategy",
}
