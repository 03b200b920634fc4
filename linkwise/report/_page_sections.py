"""Sections of the page about clusters, the effect of constraints, doubtful samples and statements, and questions."""

from __future__ import annotations

from linkwise._messages import and_more, many
from linkwise.plots import cluster_color, text_on
from linkwise.report._facts import Cluster, Comparison, Facts, Trait
from linkwise.report._sentences import (
    EFFECT,
    JUDGED,
    QUESTIONS,
    TRUTH,
    VIEWS,
    agreement_words,
    ballot,
    change_words,
    compared,
    filled,
    judgment,
    marked,
    mean_words,
    safe,
    trait_words,
    truth_words,
)
from linkwise.report._svg import before_svg

_MAX_CLUSTERS = 200
_MAX_CLASSES = 40
_LEAST_BAR = 1.0  # standard deviations for a bar of full length, at least


def more_of(shown: int, total: int, rest: str = "") -> str:
    """Write a line about the things of a list that are not shown; "" if all are."""
    return f"<p class='soft'>{and_more(shown, total, '… ')}{rest}.</p>" if total > shown else ""


def swatch(label: int) -> str:
    """Write a colored square with the number of its cluster."""
    color = cluster_color(label)
    return f'<span class="chip" style="background:{color};color:{text_on(color)}">{label}</span>'


def cluster_section(facts: Facts) -> str:
    """Write one card per cluster: size, typical members, traits, and all members on demand."""
    largest = max((cluster.size for cluster in facts.clusters), default=1)
    parts = ["<h2>The clusters</h2>"]
    if any(cluster.traits for cluster in facts.clusters):
        parts.append(
            "<p class='soft'>Terms that are more frequent here than elsewhere, the most distinctive first.</p>"
            if facts.texts
            else "<p class='soft'>Bars show how far a cluster's mean is from the mean of all samples, in standard "
            "deviations; the six largest of at least 0.2.</p>"
        )
    if facts.n_missing:
        parts.append(f"<p class='soft'>{safe(filled(facts))}</p>")
    parts.append('<div class="cards">')
    differences = (abs(trait.difference) for cluster in facts.clusters for trait in cluster.traits)
    full = max(_LEAST_BAR, max(differences, default=0.0))
    parts += [_card(cluster, facts, largest, full) for cluster in facts.clusters[:_MAX_CLUSTERS]]
    parts.append("</div>")
    if len(facts.clusters) > _MAX_CLUSTERS:
        parts.append(f"<p class='soft'>… and {many(len(facts.clusters) - _MAX_CLUSTERS, 'more cluster')}.</p>")
    return "\n".join(parts)


def _card(cluster: Cluster, facts: Facts, largest: int, full: float) -> str:
    color = cluster_color(cluster.label)
    share, part = 100 * cluster.size / largest, cluster.size / max(facts.n_samples, 1)
    margin = "" if cluster.margin is None or len(facts.clusters) < 2 else f", mean margin {cluster.margin:.2f}"
    typical = ""
    terms = [trait.feature for trait in cluster.traits] if facts.texts else []
    if cluster.texts:
        named = cluster.exemplars or cluster.members
        typical = "".join(
            f"<li><bdi>{safe(name, 60)}</bdi>: <bdi>{marked(text, terms)}</bdi></li>"
            for name, text in zip(named, cluster.texts, strict=False)
        )
        typical = f"<p class='soft'>typical:</p><ul class='texts'>{typical}</ul>"
    elif cluster.exemplars:
        names = ", ".join(f"<bdi>{safe(name, 60)}</bdi>" for name in cluster.exemplars)
        typical = f"<p><span class='soft'>typical:</span> {names}</p>"
    begun = [f": {marked(text, terms)}" for text in cluster.openings]
    begun += [""] * (len(cluster.members) - len(begun))
    members = "".join(
        f"<li><bdi>{safe(name)}</bdi>{text}</li>" for name, text in zip(cluster.members, begun, strict=True)
    )
    kind = "texts" if cluster.openings else "members"
    heading = f"<b>{safe(cluster.name, 80)}</b>, " if cluster.name else ""
    more = more_of(len(cluster.members), cluster.size)
    return (
        f'<article data-cluster="{cluster.label}" style="--mine:{color}"><h3>{swatch(cluster.label)} {heading}'
        f'{many(cluster.size, "sample")}<span class="soft">, {part:.0%}{margin}</span></h3>'
        f'<span class="bar"><span style="width:{share:.1f}%;background:{color}"></span></span>'
        f"{_traits(cluster.traits, facts, full)}{typical}"
        f'<details><summary>members</summary><ul class="{kind}">{members}</ul>{more}</details></article>'
    )


def _traits(traits: tuple[Trait, ...], facts: Facts, full: float) -> str:
    """Write terms, or features with bars, of which one of ``full`` standard deviations has the whole length."""
    if not traits:
        return ""
    if facts.texts:
        return "<p class='terms'>" + "".join(f"<b>{safe(t.feature, 60)}</b>" for t in traits) + "</p>"
    rows = ["<tr><th></th><th></th><th class='n'>sd</th><th class='n'>mean</th></tr>"]
    for trait in traits:
        reach = 50 * abs(trait.difference) / full
        left = 50 if trait.difference > 0 else 50 - reach
        rows.append(
            f'<tr title="{safe(trait_words(trait, facts.texts))}"><td><bdi>{safe(trait.feature, 60)}</bdi></td>'
            f'<td class="dev"><i style="left:{left:.1f}%;width:{reach:.1f}%"></i></td>'
            f'<td class="n">{trait.difference:+.1f}</td><td class="n soft">{mean_words(trait)}</td></tr>'
        )
    return f'<table class="traits">{"".join(rows)}</table>'


def change_section(facts: Facts) -> str:
    """Write the effect of the constraints: sentences, the statements that changed the result, and moved samples."""
    found = facts.comparison
    if found is None:
        return ""
    sentences = "".join(f"<p>{safe(sentence)}</p>" for sentence in compared(facts, found))
    drawing = before_svg(facts)
    if drawing:
        drawing = (
            f'<figure><div class="wide">{drawing}</div><figcaption>The tree without constraints, its clusters in the '
            "colors of those they became; thick arcs are statements it breaks.</figcaption></figure>"
        )
    return f"<h2>{EFFECT}</h2>\n{sentences}{drawing}{_flows(facts, found)}{_needed(found)}{_moves(found)}"


def _flows(facts: Facts, found: Comparison) -> str:
    """Write one bar per cluster, divided by the former clusters of its samples."""
    if not found.n_moved:
        return ""
    rows = []
    for cluster in facts.clusters[:40]:
        flows = [flow for flow in found.flows if flow.after == cluster.label]
        pieces = "".join(
            f'<i style="width:{100 * flow.size / cluster.size:.2f}%;background:{_shade(flow.before, facts)}" '
            f'title="{flow.size:,} from {flow.before}"></i>'
            for flow in flows
        )
        words = ", ".join(
            f"{flow.size:,} from {flow.before if _known(flow.before, facts) else 'elsewhere'}"
            for flow in flows
            if flow.before != cluster.label
        )
        rows.append(
            f"<tr><td>{swatch(cluster.label)}</td><td class='flow'><span>{pieces}</span></td>"
            f"<td class='soft'>{words or 'as before'}</td></tr>"
        )
    head = "<tr><th>cluster</th><th colspan='2'>its samples, colored by cluster without constraints</th></tr>"
    return f"<div class='wide'><table class='flows'>{head}{''.join(rows)}</table></div>"


def _known(label: int, facts: Facts) -> bool:
    return any(cluster.label == label for cluster in facts.clusters)


def _shade(label: int, facts: Facts) -> str:
    return cluster_color(label) if _known(label, facts) else cluster_color(-1)


def _needed(found: Comparison) -> str:
    if not found.changes:
        return ""
    rows = "".join(
        f"<li><code>{safe(change.text)}</code> <span class='soft'>{safe(change_words(change))}</span></li>"
        for change in found.changes
    )
    more = more_of(len(found.changes), found.n_changes)
    few = " open" if found.n_changes <= 8 else ""
    return (
        f"<details{few}><summary>{many(found.n_changes, 'statement')} forced or refused a merge</summary>"
        f"<ul class='changes'>{rows}</ul>{more}</details>"
    )


def _moves(found: Comparison) -> str:
    if not found.moves:
        return ""
    rows = "".join(
        f"<li><bdi>{safe(move.name, 60)}</bdi> <span class='soft'>from {move.before} to {move.after}"
        f"{', named in a statement' if move.named else ''}</span></li>"
        for move in found.moves
    )
    more = more_of(len(found.moves), found.n_moved)
    title = f"{many(found.n_moved, 'sample')} moved, those in statements first"
    return f"<details><summary>{title}</summary><ul class='members'>{rows}</ul>{more}</details>"


def doubt_section(facts: Facts) -> str:
    """Write the samples that are nearly as close to another cluster as to their own."""
    if not facts.doubtful:
        return ""
    texts = any(one.text for one in facts.doubtful)
    terms = {cluster.label: [trait.feature for trait in cluster.traits] for cluster in facts.clusters}
    rows = "".join(
        f"<tr><td><bdi>{safe(one.name, 80)}</bdi></td><td>{swatch(one.cluster)}</td><td>{swatch(one.other)}</td>"
        f"<td class='n'>{round(one.margin, 2) + 0.0:+.2f}</td><td class='n'>{one.statements:,}</td>"
        f"{f'<td class=soft>{marked(one.text, terms.get(one.cluster, ()))}</td>' if texts else ''}</tr>"
        for one in facts.doubtful
    )
    head = (
        '<tr><th>sample</th><th>in</th><th>next</th><th class="n">margin</th><th class="n">statements</th>'
        f"{'<th>text</th>' if texts else ''}</tr>"
    )
    return (
        "<h2>Least certain</h2>\n<p class='soft'>Samples nearly as close to another cluster as to their own; the "
        "margin is 1 in the middle of a cluster, 0 halfway, and below 0 for those that are closer to the other one, "
        "often because a statement or the tree requires it.</p>\n"
        f"<div class='wide'><table>{head}{rows}</table></div>"
    )


def truth_section(facts: Facts) -> str:
    """Write the table of known classes against clusters; pairs that are matched are in bold."""
    found = facts.truth
    if found is None:
        return ""
    shown = min(len(found.classes), _MAX_CLASSES)
    head = "".join(f'<th class="n">{swatch(label)}</th>' for label in found.clusters[:_MAX_CLASSES])
    rows = "".join(
        f"<tr><td><bdi>{safe(found.classes[i], 80)}</bdi></td>"
        + "".join(
            f"<td class='n'>{f'<b>{count:,}</b>' if i == j else f'{count:,}'}</td>"
            for j, count in enumerate(found.counts[i][:_MAX_CLASSES])
        )
        + "</tr>"
        for i in range(shown)
    )
    more = more_of(shown, len(found.classes), " classes")
    return (
        f"<h2>{TRUTH}</h2>\n<p>{safe(truth_words(found))}</p>\n"
        f"<div class='wide'><table><tr><th>class</th>{head}</tr>{rows}</table></div>{more}"
    )


def judged_section(facts: Facts) -> str:
    """Write the statements that the data contradict, and whether they hold in the result."""
    sentences = "".join(f"<p>{safe(sentence)}</p>" for sentence in judgment(facts))
    if not sentences:
        return ""
    rows = "".join(
        f"<tr><td><code>{safe(one.text)}</code></td><td class='n'>{one.wrong:.2f}</td>"
        f"<td class='{'yes' if one.held else 'no'}'>{'✓ holds' if one.held else '✗ broken'}</td></tr>"
        for one in facts.judged
    )
    head = '<tr><th>statement</th><th class="n">wrong with probability</th><th>in the result</th></tr>'
    table = f"<div class='wide'><table>{head}{rows}</table></div>" if rows else ""
    more = more_of(len(facts.judged), facts.n_judged or 0, ", less probably wrong than these") if rows else ""
    return f"<h2>{JUDGED}</h2>\n{sentences}{table}{more}"


def view_section(facts: Facts) -> str:
    """Write the views that voted, with their weights, and the reasons for those that did not; folded."""
    if not facts.votes:
        return ""
    rows = "".join(
        f"<tr><td>{safe(vote.view)}</td><td class='n'>{vote.weight:.3f}</td>"
        f"<td class='n'>{agreement_words(vote)}</td></tr>"
        if not vote.missing
        else f"<tr><td>{safe(vote.view)}</td><td colspan='2' class='soft'>left out: {safe(vote.missing)}</td></tr>"
        for vote in facts.votes
    )
    head = '<tr><th>view</th><th class="n">weight</th><th class="n">agreement with statements held out</th></tr>'
    return (
        f"<h2>{VIEWS}</h2>\n<p>{safe(ballot(facts))}</p><details><summary>{many(len(facts.votes), 'view')}, one by one"
        f"</summary><div class='wide'><table>{head}{rows}</table></div></details>"
    )


def question_section(facts: Facts) -> str:
    """Write the questions to ask next."""
    if not facts.questions:
        return ""
    rows = "".join(f"<li>{safe(question)}</li>" for question in facts.questions)
    return f"<h2>{QUESTIONS}</h2>\n<ol class='ask'>{rows}</ol>"
