// What a move of a branch says: the bubble with its readings, each with the contradiction it would cause.
import { count, html, useEffect, useRef } from "./base.js";
import { clusterName, complain, confirm, drop, say, nameOf, position, tell } from "./state.js";
import { rowsBelow } from "./arrays.js";
import { get } from "./transport.js";
import { branchWords, readingWords, words } from "./words.js";

const text = words.move;

/** What a branch is called: as the group that it is, or after one of its items. */
function called(now, v) {
  const rows = Array.from(rowsBelow(now, v)), group = now.cluster[v];
  const all = now.cluster.subarray(0, now.n_leaves).reduce((n, one) => n + (one === group), 0);
  return group >= 0 && all === rows.length ? `${clusterName(group)} (${count(rows.length)})` : branchWords(rows.map(nameOf));
}

/** Branch `a` was dropped on branch `b`: ask which readings are possible, then show them. */
export async function openDrop(now, a, b, place, via) {
  const end = (v) => now.start[v] + now.size[v];
  const overlap = now.start[a] < end(b) && now.start[b] < end(a);
  if (a === b || overlap) tell(text.outside);
  if (a === b || overlap || position.value) return;
  drop.value = { Bubble, place, via, told: null, A: called(now, a), B: called(now, b) };
  try {
    const told = await get("drag", { a, b, v: now.v });
    const above = now.cut === undefined || place.height === undefined || place.height >= now.cut;
    const fits = (one) => !one.already, wanted = told.readings.findIndex((one) => fits(one) && one.reading === (above ? "branch" : "group"));
    drop.value = { ...drop.value, told, chosen: wanted >= 0 ? wanted : told.readings.findIndex(fits) };   // what the tree shows already cannot be chosen
  } catch (problem) { drop.value = null; complain(problem); }
}

async function choose(one) {
  const { via } = drop.value;
  drop.value = null;
  document.querySelector("#tree")?.focus();
  confirm(await say("move", one.body, via), { op: "move", body: one.body });
}

function Bubble() {
  const host = useRef(), at = drop.value;
  useEffect(() => { (host.current?.querySelector("[data-chosen]") || (at?.told && host.current?.querySelector(".plain")))?.focus(); }, [at?.told]);
  useEffect(() => {   // again when the readings are there: they make it taller; the whole window is its room
    const box = host.current, { x = 24, y = 20 } = at.place, pane = box.parentElement.getBoundingClientRect();
    box.style.setProperty("--x", `${Math.max(8, Math.min(pane.left + x, innerWidth - box.offsetWidth - 8))}px`);
    box.style.setProperty("--y", `${Math.max(8, Math.min(pane.top + y + 40, innerHeight - box.offsetHeight - 8))}px`);
  }, [at?.told]);
  const close = () => { drop.value = null; document.querySelector("#tree")?.focus(); };
  const key = (event) => {
    const list = at.told?.readings || [], number = Number(event.key);
    event.stopPropagation();
    if (event.key === "Escape") close();
    else if (number >= 1 && number <= list.length && !list[number - 1].already) choose(list[number - 1]);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const buttons = [...host.current.querySelectorAll("button")], now = buttons.indexOf(document.activeElement);
      buttons[(now + (event.key === "ArrowDown" ? 1 : -1) + buttons.length) % buttons.length].focus();
      event.preventDefault();
    }
  };
  const S = at.told?.s?.items || [];
  return html`<div class="bubble" role="dialog" aria-label=${text.title} ref=${host} onKeyDown=${key}>
    <h3>${text.title}</h3>
    ${!at.told && html`<p class="soft">…</p>`}
    ${at.told?.readings.map((one, n) => html`<button class="reading" key=${one.reading} data-chosen=${n === at.chosen ? "" : undefined} disabled=${one.already} onClick=${() => choose(one)}>
      <kbd>${n + 1}</kbd><span><b>${readingWords(one.reading, at.A, at.B, branchWords(one.body?.S || S))}</b>
      <small>${one.already ? text.already : text.notes[one.reading]}</small>
      ${one.contradicts && html`<small class="bad">${text.before}: ${one.contradicts.words || (one.contradicts.seqs || []).map((n) => `#${n}`).join(", ")}</small>`}</span></button>`)}
    <button class="plain" onClick=${close}>${text.cancel} <kbd>Esc</kbd></button>
  </div>`;
}
