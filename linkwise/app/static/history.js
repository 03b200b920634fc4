// The history: a slider over all statements, each of which can be undone; and the comparison of two moments.
import { html, useEffect, useRef, useState, settled } from "./base.js";
import { clusterName, complain, itemNames, movedBy, openPanel, panel, position, scrub, seq, statements, who } from "./state.js";
import { get } from "./transport.js";
import { words } from "./words.js";
import { Drawer } from "./drawer.js";
import { Row } from "./knowledge.js";

const text = words.history, MOST = 300;
export const compared = { a: null };

export function History() {
  const last = seq.value, at = position.value ?? last, [shown, setShown] = useState(at), [playing, setPlaying] = useState(false);
  const go = useRef(settled((to) => scrub(to), 120)).current;
  useEffect(() => setShown(at), [at]);
  useEffect(() => {
    if (!playing) return undefined;
    const timer = setTimeout(() => { if (shown >= last) setPlaying(false); else { setShown(shown + 1); scrub(shown + 1); } }, 700);
    return () => clearTimeout(timer);
  }, [playing, shown]);
  const list = statements.value.filter((one) => one.seq <= shown).slice(-MOST).reverse();
  return html`<${Drawer} title=${text.title}>
    <div class="scrub"><input id="scrubber" type="range" min="1" max=${Math.max(1, last)} value=${shown} aria-label=${text.slider} aria-valuetext=${text.at(shown, last)} onInput=${(e) => { const to = Number(e.target.value); setShown(to); go(to); }} />
      <span class="number">${text.at(shown, last)}</span></div>
    <div class="buttons"><button class="plain" onClick=${() => { if (!playing && shown >= last) { setShown(1); scrub(1); } setPlaying(!playing); }}>${playing ? text.stop : text.play}</button>
      <button class="plain" disabled=${position.value === null} onClick=${() => { compared.a = position.value; panel.value = null; openPanel("compare"); }}>${text.compare}</button>
      <button class="plain" disabled=${position.value === null} onClick=${() => scrub(null)}>${words.tree.backToNow}</button></div>
    <ul class="says">${list.map((one) => html`<${Row} key=${one.seq} one=${one} extra=${[one.who === who.value ? "" : one.who, text.moved(movedBy.value[one.seq])].filter(Boolean).join(" · ")} />`)}</ul>
  <//>`;
}

export function Compare() {
  const c = words.compare, [a, setA] = useState(compared.a ?? Math.min(1, seq.value)), [told, setTold] = useState(null);
  useEffect(() => {
    setTold(null);
    const stop = new AbortController();
    get("compare", { a, b: seq.value }, stop.signal).then(setTold).catch(complain);
    return () => stop.abort();
  }, [a, seq.value]);
  const known = told?.moved.some((one) => one.because);   // which statement moved them, where it can be only one
  const groups = (x) => (typeof x === "number" ? clusterName(x) : x);
  return html`<${Drawer} title=${c.title} wide=${true}>
    <p><label>${c.from} # <input type="number" min="1" max=${seq.value} value=${a} onChange=${(e) => setA(Math.max(1, Math.min(seq.value, Number(e.target.value) || 1)))} /></label> ${c.to} ${c.now} (#${seq.value})</p>
    ${!told ? html`<p class="soft">${c.working}</p>` : html`<p class="lead">${c.moved(told.n_moved ?? told.moved.length, itemNames.value.length)}</p>${told.words && html`<p>${[].concat(told.words).join(" ")}</p>`}
      ${told.moved.length > 0 && html`<table class="plain-table"><thead><tr><th>${c.item}</th><th>${c.was}</th><th>${c.is}</th>${known && html`<th>${c.because}</th>`}</tr></thead>
        <tbody>${told.moved.slice(0, 200).map((one) => html`<tr key=${one.id}><td dir="auto">${one.id}</td><td>${groups(one.from)}</td><td>${groups(one.to)}</td>${known && html`<td>${one.because ? `#${one.because}` : ""}</td>`}</tr>`)}</tbody></table>`}
      ${(told.n_moved ?? 0) > 200 && html`<p class="soft">${c.more(told.n_moved - 200)}</p>`}`}
  <//>`;
}
