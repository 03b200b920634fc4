// The question card: two or three items side by side, blind until a hint is asked for, differences first.
import { html, useEffect, useKeptFocus, useRef, useState } from "./base.js";
import { PHONE, answer, asking, clusterName, clusterOf, engine, hinted, lastMine, position, progress, question, rowFor, say, undo, wideness, who } from "./state.js";
import { pictureAddress } from "./transport.js";
import { short, statementWords, words } from "./words.js";

const text = words.card, FEW = 8, LETTERS = 600;
export const FAIRLY_SURE = 0.8;
export const sure = { value: 1 };

/** Words of a text that none of the other texts has, underlined; the same tokens that are compared. */
function Prose({ value, others }) {
  const [all, setAll] = useState(false);
  const tokens = (s) => new Set(s.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) || []);
  const theirs = new Set(others.flatMap((other) => [...tokens(other)]));
  const shown = all ? value : value.slice(0, LETTERS);
  const parts = shown.split(/([\p{L}\p{N}_]{2,})/u);
  return html`<p class="prose" dir="auto">${parts.map((part, at) => (at % 2 && !theirs.has(part.toLowerCase()) ? html`<u>${part}</u>` : part))}${!all && value.length > LETTERS ? "…" : ""}
    ${value.length > LETTERS && html` <button class="link" onClick=${() => setAll(!all)}>${all ? text.fewer : text.letters}</button>`}</p>`;
}

const ODD = ["first", "second", "third"];

/** What an item is called; of three, the button that says that it does not belong. */
function Head({ item, at, trio, pressed, busy }) {
  const head = html`<span class="item-name" dir="auto">${item.id}</span>`;
  return html`
    ${trio ? html`<button class="item-head odd" disabled=${busy} onClick=${() => pressed(ODD[at])}><kbd>${at + 1}</kbd>${head}</button>` : html`<h3 class="item-head">${head}</h3>`}
    ${hinted.value && html`<p class="hint">${text.inGroup(clusterName(clusterOf(rowFor(item.id))))}</p>`}`;
}

function Item({ item, at, asked, trio, pressed, busy }) {
  const others = asked.items.filter((other) => other !== item).map((other) => other.text || "");
  const choose = (event) => event.target.closest("button") || getSelection().toString() || pressed(ODD[at]);
  return html`<div class=${trio ? "item choice-item" : "item"} onClick=${trio ? choose : undefined}>
    <${Head} ...${{ item, at, trio, pressed, busy }} />
    ${item.picture && html`<div class="picture"><img src=${pictureAddress(item.n)} alt=${item.id} /></div>`}
    ${item.text && html`<${Prose} value=${item.text} others=${others} />`}
  </div>`;
}

/** The values of the items side by side, those that differ most first. `heads` stand above them, or short names. */
function Values({ asked, heads }) {
  const [all, setAll] = useState(false), one = asked.items[0];
  const columns = one.show.map(({ column, differs }, at) => ({ column, differs: differs ?? 0, values: asked.items.map((item) => item.show[at]?.value ?? "") }));
  columns.sort((a, b) => b.differs - a.differs);
  const shown = all ? columns : columns.slice(0, FEW), left = columns.length - shown.length, most = Math.max(1e-9, columns[0].differs);
  const called = (item, at) => (heads ? html`<${Head} item=${item} at=${at} ...${heads} />` : short(item.id, wideness.value < PHONE ? 18 : 40));
  return html`<div class=${heads ? "values headed" : "values"}><table>
    <thead><tr><th scope="col"><span class="unseen">${text.value}</span></th>
      ${asked.items.map((item, at) => html`<th scope="col" dir="auto" title=${item.id}>${called(item, at)}</th>`)}
      <th scope="col" class="differ">${text.differs}</th></tr></thead>
    <tbody>${shown.map(({ column, differs, values }) => html`<tr key=${column}><th scope="row" dir="auto">${column}</th>
      ${values.map((value) => html`<td dir="auto">${value === "" || value === null ? "–" : String(value)}</td>`)}
      <td class="differ" title=${text.differs}><meter min="0" max="1" value=${Math.max(0, Math.min(1, differs / most))} aria-label=${text.differs}></meter></td></tr>`)}</tbody></table>
    ${left > 0 && html`<button class="link" onClick=${() => setAll(true)}>${text.more(left)}</button>`}</div>`;
}

function Note({ close }) {
  const field = useRef(), last = lastMine();
  useEffect(() => field.current?.focus(), []);
  const keep = (event) => { event.preventDefault(); const told = field.current.value.trim(); if (told && last) say("note", { seq: last.seq, text: told }); close(); };
  return html`<form class="note" onSubmit=${keep} onKeyDown=${(e) => e.key === "Escape" && close()}><label>${text.notePrompt}${last ? `: ${statementWords(last)}` : ""}<input ref=${field} maxlength="2000" /></label><button>${text.send}</button></form>`;
}

export const noting = { open: null };

export function Card() {
  const host = useRef(), asked = question.value, state = asking.value, [notes, setNotes] = useState(false), [fairly, setFairly] = useState(false);
  noting.open = () => setNotes(true);
  sure.value = fairly ? FAIRLY_SURE : 1;
  useEffect(() => setFairly(false), [asked?.id]);
  useKeptFocus(host, () => host.current.querySelector(".answers > button:not(:disabled)"));
  const trio = asked && asked.items.length === 3, busy = state !== "ready" || position.value !== null;
  // Items that are values only are the heads of their columns; a phone is too narrow for that.
  const inTable = asked && wideness.value >= PHONE && asked.items[0].show?.length > 0 && !asked.items.some((item) => item.text || item.picture);
  const pressed = (word) => answer(word, fairly ? FAIRLY_SURE : 1);
  return html`<section class="pane card-pane" ref=${host} aria-label=${words.panes.question}>
    ${asked ? html`<div class=${busy ? "card busy" : "card"}>
      <div class="ask"><p class="kicker">${asked.number ? text.number(asked.number) : words.panes.question}${who.value && who.value !== "me" ? ` · ${who.value}` : ""}</p>
        <h2 id="asked">${trio ? text.trio : text.pair}</h2>
        ${!inTable && html`<div class=${trio ? "items three" : "items"}>${asked.items.map((item, at) => html`<${Item} key=${item.id} ...${{ item, at, asked, trio, pressed, busy }} />`)}</div>`}
        ${asked.items[0].show?.length > 0 && html`<${Values} asked=${asked} heads=${inTable && { trio, pressed, busy }} />`}</div>
      <div class="answers" role="group" aria-labelledby="asked">
        ${!trio && html`<button class="yes" disabled=${busy} onClick=${() => pressed("yes")}>${text.yes}<kbd>y</kbd></button><button class="no" disabled=${busy} onClick=${() => pressed("no")}>${text.no}<kbd>n</kbd></button>`}
        <button class="plain" disabled=${busy} onClick=${() => pressed("unsure")}>${trio ? text.unsureTrio : text.unsure}<kbd>u</kbd></button>
        <label class="fairly"><input type="checkbox" checked=${fairly} onChange=${(e) => setFairly(e.target.checked)} /> ${text.probably}</label>
        <div class="side"><button class="plain" onClick=${() => undo(undefined, "menu")}>${text.undo}<kbd>z</kbd></button>
        <button class="plain" aria-pressed=${hinted.value ? "true" : "false"} onClick=${() => { hinted.value = !hinted.value; }}>${hinted.value ? text.hideHint : text.hint}<kbd>h</kbd></button>
        <button class="plain" onClick=${() => setNotes(true)}>${text.note}<kbd>c</kbd></button></div>
        ${asked.why && hinted.value && html`<p class="soft why-asked">${text.whyAsked}: ${asked.why}</p>`}
      </div></div>`
    : html`<div class="nothing"><h2>${state === "none" ? text.none : progress.value.answers ? text.saved : engine.value.state === "preparing" ? words.start.preparing(engine.value.share || 0) : text.preparing}</h2>${state === "none" && html`<p class="soft">${text.noneHint}</p>`}
        ${lastMine() && html`<button class="plain" onClick=${() => undo(undefined, "menu")}>${text.undo}<kbd>z</kbd></button>`}</div>`}
    ${notes && html`<${Note} close=${() => setNotes(false)} />`}
    <p class="progress" aria-live="off">${text.progress(progress.value)}</p>
  </section>`;
}
