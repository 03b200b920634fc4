// Narrow screens: questions only. Swipe right = together, left = apart, up = unsure; every swipe is also a button.
import { html, useRef } from "./base.js";
import { answer, marks, project, statements, undo, who } from "./state.js";
import { statementWords, words } from "./words.js";
import { Card } from "./card.js";
import { Mark } from "./knowledge.js";

const FAR = 70;

export function Phone() {
  const from = useRef(null);
  const last = statements.value.filter((one) => one.who === who.value && one.op === "answer" && marks.value[one.seq] !== "undone").slice(-10).reverse();
  const end = (event) => {
    const began = from.current, now = event.changedTouches[0];
    from.current = null;
    if (!began || !now) return;
    const dx = now.clientX - began.clientX, dy = now.clientY - began.clientY;
    if (Math.abs(dx) > FAR && Math.abs(dx) > 2 * Math.abs(dy)) answer(dx > 0 ? "yes" : "no");
    else if (dy < -FAR && -dy > 2 * Math.abs(dx) && window.scrollY === 0) answer("unsure");
  };
  return html`<main class="phone"><h1 class="unseen">${project.value.name}</h1><div onTouchStart=${(e) => { from.current = e.touches.length === 1 ? e.touches[0] : null; }} onTouchEnd=${end}><${Card} /></div>
    ${last.length > 0 && html`<section aria-label=${words.phone.last}><h2>${words.phone.last}</h2><ul class="says">${last.map((one) => html`<li class="said" key=${one.seq}><${Mark} seq=${one.seq} /><span class="sentence" dir="auto">${statementWords(one)}</span><button class="mini" onClick=${() => undo(one.seq, "menu")}>${words.phone.change}</button></li>`)}</ul></section>`}
    <p class="soft">${words.phone.only}</p></main>`;
}
