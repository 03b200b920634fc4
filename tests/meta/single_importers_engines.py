"""Modules of `linkwise.engines` with a single importer, and what the split buys a reader."""

REASONS = {
    "linkwise.engines._docstrings": "reads and writes docstrings; `_base` is about the steps of `fit`",
    "linkwise.engines.agglomeration._gamma_linkage": "a public method, which warmup calls",
    "linkwise.engines.agglomeration._rounds_dense": "one merge loop; `_choose_loop` only chooses between the loops",
    "linkwise.engines.agglomeration._rounds_points": "one merge loop; `_choose_loop` only chooses between the loops",
    "linkwise.engines.graph._kernel_loop": "the algorithm on contracted nodes, without the parameters of the estimator",
    "linkwise.engines.graph._neighborhoods": "a public estimator, which questions also use",
    "linkwise.engines.hierarchical._active_complete_link": "a public function, which questions also use",
    "linkwise.engines.hierarchical.biased._runs": "the algorithms and their state, without the parameters",
    "linkwise.engines.hierarchical.relative._run": "the merge loop; the estimator judges, cuts and keeps",
    "linkwise.engines.hierarchical.ultrametric._heights": "public functions, one of which warmup calls",
    "linkwise.engines.hierarchical.ultrametric._projection": "a public function that is also the first step of IPoptim",
    "linkwise.engines.metric._boosting": "boosting of any hypotheses about pairs; DistBoost supplies the mixtures",
    "linkwise.engines.mixture._penalized_mixture": "a public estimator, which warmup fits",
    "linkwise.engines.mixture._wide_components": "two approximate inferences; the estimator chooses between them",
    "linkwise.engines.partitional._mpck_means": "public estimators, one of which is an automatic choice",
    "linkwise.engines.partitional._soft_loop": "one run of the alternation; the mixin runs it from several starts",
    "linkwise.engines.partitional._sweeps": "the fast pass over rows in single precision, with its error bound",
}
