// Who answers, how often two people agree, and where they do not.
import { html } from "./base.js";
import { people, statements, marks } from "./state.js";
import { statementWords, words } from "./words.js";
import { Drawer } from "./drawer.js";

const text = words.people;

/** Answers of two people to the same items: how many, how many equal, and the pairs of answers that differ. */
export function agreement(list, a, b) {
  const of = (name) =>
    new Map(
      list
        .filter((one) => one.op === "answer" && one.who === name && marks.value[one.seq] !== "undone" && one.body.answer !== "unsure")
        .map((one) => {
          const odd = { first: 0, second: 1, third: 2 }[one.body.answer];
          return [JSON.stringify([...one.body.items].sort()), { one, said: odd === undefined ? one.body.answer : one.body.items[odd] }];
        }),
    );
  const mine = of(a),
    theirs = of(b),
    differ = [];
  let both = 0;
  for (const [key, left] of mine) {
    const right = theirs.get(key);
    if (!right) continue;
    both++;
    if (left.said !== right.said) differ.push([left.one, right.one]);
  }
  return { both, agree: both - differ.length, differ };
}

export function People() {
  const names = people.value.map((one) => one.name),
    pairs = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b, agreement(statements.value, a, b)]));
  return html`<${Drawer} title=${text.title}>
    ${names.length < 2 && html`<p class="soft">${text.none}</p>`}
    ${
      pairs.length > 0 &&
      html`<table class="plain-table"><thead><tr><th></th><th>${text.both}</th><th>${text.agree}</th></tr></thead>
      <tbody>${pairs.map(
        ([a, b, s]) => html`<tr><td>${a} · ${b}</td><td>${s.both}</td><td>
            ${s.both ? `${Math.round((100 * s.agree) / s.both)} %` : "–"}</td></tr>`,
      )}</tbody></table>
      <ul class="says">${pairs
        .flatMap(([, , s]) => s.differ)
        .map(
          ([one, other]) => html`<li class="said"><span dir="auto">
            ${one.who}: ${statementWords(one)}<br />${other.who}: ${statementWords(other)}</span></li>`,
        )}</ul>`
    }
  <//>`;
}
