"""Sentences and headings of a report, and escaping of texts from the data."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

from linkwise._messages import many, number
from linkwise.constraints import Kind
from linkwise.report._facts import Change, Cluster, Comparison, Facts, Trait, Truth, Vote

EFFECT = "Effect of the constraints"
STATEMENTS = "Statements and how many hold"
QUESTIONS = "Questions to ask next"
JUDGED = "Doubtful statements"
TRUTH = "Known classes"
VIEWS = "Views"
REPEAT = "How to repeat this result"

# kind: (words, style of the drawing, meaning)
MEANING = {
    Kind.MUST_LINK: ("must-link", "together", "these two samples belong to the same cluster"),
    Kind.CANNOT_LINK: ("cannot-link", "apart", "these two samples belong to different clusters"),
    Kind.TRIPLET: ("triplet", "closer", "the first two samples meet in the tree before either meets the third"),
    Kind.TOGETHER: ("group together", "together", "all these samples belong to one cluster"),
    Kind.APART: ("group apart", "apart", "no two of these samples belong to the same cluster"),
    Kind.MUST_LINK_ANY: ("must-link choice", "together", "the first sample shares a cluster with one of the others"),
    Kind.CANNOT_LINK_ANY: ("cannot-link choice", "apart", "the first sample is apart from one of the others"),
    Kind.EITHER: ("disjunction", "together", "at least one of several must-links and cannot-links holds"),
}


def lead(facts: Facts) -> str:
    """Word the numbers of samples and clusters, and remarks about small branches."""
    where = f", in {many(facts.n_roots, 'tree')} that may not be joined" if facts.n_roots > 1 else ""
    found = f"{many(facts.n_samples, 'sample')} in {many(len(facts.clusters), 'cluster')}{where}."
    return " ".join([found, *facts.remarks])


def asked(facts: Facts) -> str:
    """Word the constraints."""
    counts = ", ".join(kind.kind.count(kind.said) for kind in facts.kinds) or "none"
    soft = f", {facts.n_soft:,} of them soft" if facts.n_soft else ""
    rules = f"; rules: {', '.join(rule for rule, _ in facts.rules)}" if facts.rules else ""
    return f"Constraints: {counts}{soft}{rules}."


def filled(facts: Facts) -> str:
    """Word the number of missing values; "" if there are none."""
    if not facts.n_missing:
        return ""
    are = "is" if facts.n_missing == 1 else "are"
    gone = many(facts.n_missing, "value")
    return (
        f"{gone} {are} missing and {'was' if facts.n_missing == 1 else 'were'} filled in only to compare samples; "
        "means are over the other values."
    )


def verdict(facts: Facts) -> tuple[str, str, list[str]]:
    """Word whether all statements hold: "good", "bad" or "none", a headline, and further sentences."""
    broken = sum(kind.said - kind.held for kind in facts.kinds)
    rules = [
        f"{rule} {'was not checked' if held is None else 'holds' if held else 'is broken'}."
        for rule, held in facts.rules
    ]
    if facts.faults:
        return "bad", "The tree is invalid.", list(facts.faults)
    if facts.n_broken or any(held is False for _, held in facts.rules):
        head = f"{many(facts.n_broken, 'hard statement')} broken."
        return "bad", head, ["They come first in the list of statements.", *rules]
    if not facts.n_statements and not facts.rules:
        return "none", "There are no constraints.", ["This is the result of the plain method."]
    if broken:
        soft = f"{many(broken, 'soft statement')} {'is' if broken == 1 else 'are'} broken."
        return "good", "Every hard statement holds.", [soft, *rules]
    head = "The only statement holds." if facts.n_statements == 1 else f"All {facts.n_statements:,} statements hold."
    return "good", head, ["Checked on the final result by code that shares nothing with the method.", *rules]


def judgment(facts: Facts) -> list[str]:
    """Word how many statements the data contradict; empty if the method judges none."""
    n, soft, wrong = facts.n_judged, facts.n_soft, facts.n_contradicted
    if n is None:
        return []
    statements = many(n, "statement")
    if all(vote.agreement is None for vote in facts.votes):
        statements = many(facts.n_statements, "statement")
        sentences = [f"{statements}: too few to hold some out, so none is judged by the data."]
        if soft:
            sentences.append("The probabilities are those that were given.")
    else:
        verdict = f"{wrong:,} of {statements}" if wrong else f"none of {statements}"
        odds = f", which {'is' if wrong == 1 else 'are'} wrong with a probability of at least 0.5" if wrong else ""
        sentences = [
            f"The data contradict {verdict}{odds}. Each is judged by views of the data that were fitted without it."
        ]
    sentences.append("None is dropped.")
    if soft:
        sentences.append("Soft statements are weighed against the data, and may be broken.")
    if facts.n_statements > soft:
        sentences.append("Hard statements hold in the result, whatever the data say.")
    if wrong and not soft:
        sentences.append("With --trust doubtful, in Python trust='doubtful', they are weighed against the data.")
    return sentences


def ballot(facts: Facts) -> str:
    """Word how many views voted, and how many could not be fitted."""
    lost = sum(bool(vote.missing) for vote in facts.votes)
    left = f"; {lost:,} could not be fitted and {'was' if lost == 1 else 'were'} left out" if lost else ""
    what = (
        "their weight follows from the statements that they predict without having been given them"
        if any(vote.agreement is not None for vote in facts.votes)
        else "all have the same weight, since no statements were held out"
    )
    return f"{many(len(facts.votes) - lost, 'view')} of the data voted, and {what}{left}."


def agreement_words(vote: Vote) -> str:
    """Word the agreement of a view with statements held out."""
    return "–" if vote.agreement is None else f"{vote.agreement:.2f}"


def compared(facts: Facts, found: Comparison) -> list[str]:
    """Word the effect of the constraints in a few sentences."""
    share = found.n_moved / max(facts.n_samples, 1)
    if found.n_moved:
        are = "is" if found.n_moved == 1 else "are"
        moved = f"{many(found.n_moved, 'sample')} of {facts.n_samples:,} ({share:.1%}) {are} in another cluster than"
        sentences = [f"{moved} without constraints; the two clusterings agree to {found.adjusted_rand:.3f}"]
        sentences[0] += " (adjusted Rand index; 1 is the same, 0 is chance)."
    else:
        sentences = ["Every sample is in the same cluster as without constraints."]
    if found.n_statements:
        sentences.append(
            f"{found.held_before:,} of {many(found.n_statements, 'statement')} "
            f"{'holds' if found.held_before == 1 else 'hold'} without constraints, {found.held_after:,} with them."
        )
    if found.n_branches:
        same = found.branches_kept or 0
        sentences.append(
            f"{same:,} of {many(found.n_branches, 'branch')} of the tree {'is' if same == 1 else 'are'} the same "
            f"({same / found.n_branches:.0%})."
        )
    return sentences


def change_words(change: Change) -> str:
    """Word the effect of a statement, and the heights at which its samples meet without and with it."""
    before, after = change.height_before, change.height_after
    if change.kind is Kind.TRIPLET:
        verb = "forced an earlier merge"
    elif change.kind in (Kind.MUST_LINK, Kind.TOGETHER, Kind.MUST_LINK_ANY):
        verb = "joined samples that would be apart"
    else:
        verb = "separated samples that would be together"
    if before is None and after is None:
        return verb
    scale = max(abs(before or 0.0), abs(after or 0.0))
    first = "never meet" if before is None else f"meet at {number(before, scale)}"
    then = "never" if after is None else f"at {number(after, scale)}"
    return f"{verb}; without it they {first}, now {then}"


def trait_words(trait: Trait, texts: bool) -> str:
    """Word one feature of a cluster."""
    if texts:
        return f"{trait.feature} ({trait.difference:+.1f})"
    side = "above" if trait.difference > 0 else "below"
    return (
        f"{trait.feature} {mean_words(trait)}, {abs(trait.difference):.1f} standard deviations {side} the mean "
        f"{number(trait.overall, trait.spread)}"
    )


def mean_words(trait: Trait) -> str:
    """Word the mean of a feature in a cluster, and the number of missing values."""
    gone = f" ({trait.missing:,} missing)" if trait.missing else ""
    return f"{number(trait.mean, trait.spread)}{gone}"


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def safe(text: str, longest: int = 300) -> str:
    """Escape for HTML and SVG; control characters are replaced and very long texts shortened."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return html.escape(_CONTROL.sub("�", text), quote=True)


def marked(text: str, terms: Sequence[str], longest: int = 300) -> str:
    """Escape a text for HTML, with the words that are among some terms marked."""
    wanted = {term.lower() for term in terms}
    parts = re.split(r"(\w+)", text[:longest])
    return "".join(f"<mark>{safe(part)}</mark>" if part.lower() in wanted else safe(part) for part in parts)


def called(cluster: Cluster) -> str:
    """Word the number and the name of a cluster, as in ``cluster 2, Canidae``."""
    return f"cluster {cluster.label}" + (f", {cluster.name}" if cluster.name else "")


def script_json(values: Sequence[object]) -> str:
    """Write values as JSON that cannot end the enclosing script element."""
    text = json.dumps(values, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def truth_words(found: Truth) -> str:
    """Word how well clusters and known classes agree."""
    samples = sum(map(sum, found.counts))
    return (
        f"{many(samples, 'sample')} of known class: {found.accuracy:.1%} are in the cluster matched to their class; "
        f"adjusted Rand index {found.adjusted_rand:.3f}."
    )
