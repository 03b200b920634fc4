// What a move of a branch says: the bubble with its readings, each with the contradiction it would cause.
import { html, useEffect, useRef } from "./base.js";
import { complain, confirm, drop, say, nameOf, position } from "./state.js";
import { rowsBelow } from "./arrays.js";
import { get } from "./transport.js";
import { branchWords, readingWords, words } from "./words.js";

const text = words.move;

/** Branch `a` was dropped on branch `b`: ask which readings are possible, then show them. */
export async function openDrop(now, a, b, place, via) {
  const end = (v) => now.start[v] + now.size[v];
  const overlap = now.start[a] < end(b) && now.start[b] < end(a);
  if (a === b || overlap || position.value) return;
  const items = (v) => Array.from(rowsBelow(now, v), nameOf);
  drop.value = { Bubble, place, via, told: null, A: items(a), B: items(b) };
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
  useEffect(() => {
    const box = host.current, place = at.place;
    if (place.x === undefined) return;
    const room = box.parentElement.getBoundingClientRect();   // again when the readings are there: they make it taller
    box.style.setProperty("--x", `${Math.max(8, Math.min(place.x, room.width - box.offsetWidth - 8))}px`);
    box.style.setProperty("--y", `${Math.max(8, Math.min(place.y + 40, room.height - box.offsetHeight - 8))}px`);
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
      <kbd>${n + 1}</kbd><span><b>${readingWords(one.reading, branchWords(at.A), branchWords(at.B), branchWords(one.body?.S || S))}</b>
      <small>${one.already ? text.already : text.notes[one.reading]}</small>
      ${one.contradicts && html`<small class="bad">${text.before}: ${one.contradicts.words || (one.contradicts.seqs || []).map((n) => `#${n}`).join(", ")}</small>`}</span></button>`)}
    <button class="plain" onClick=${close}>${text.cancel} <kbd>Esc</kbd></button>
  </div>`;
}
