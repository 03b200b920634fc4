// Narrow screens: questions only. Swipe right = together, left = apart, up = unsure; every swipe is also a button.
import { html, useRef } from "./base.js";
import { answer, marks, project, statements, undo, who } from "./state.js";
import { statementWords, words } from "./words.js";
import { Card } from "./card.js";
import { Mark } from "./knowledge.js";

const FAR = 70;

export function Phone() {
  const from = useRef(null), main = useRef();
  const last = statements.value.filter((one) => one.who === who.value && one.op === "answer" && marks.value[one.seq] !== "undone").slice(-10).reverse();
  const end = (event) => {
    const began = from.current, now = event.changedTouches[0];
    from.current = null;
    if (!began || !now || main.current.scrollTop !== began.top) return;   // the page was scrolled, not swiped
    const dx = now.clientX - began.clientX, dy = now.clientY - began.clientY;
    if (Math.abs(dx) > FAR && Math.abs(dx) > 2 * Math.abs(dy)) answer(dx > 0 ? "yes" : "no");
    else if (dy < -FAR && -dy > 2 * Math.abs(dx)) answer("unsure");
  };
  return html`<main class="phone" ref=${main}><h1 class="unseen">${project.value.name}</h1><div onTouchStart=${(e) => { from.current = e.touches.length === 1 ? { clientX: e.touches[0].clientX, clientY: e.touches[0].clientY, top: main.current.scrollTop } : null; }} onTouchEnd=${end}><${Card} /></div>
    ${last.length > 0 && html`<details><summary>${words.phone.last}</summary><ul class="says">${last.map((one) => html`<li class="said" key=${one.seq}><${Mark} seq=${one.seq} /><span class="sentence" dir="auto">${statementWords(one)}</span><button class="mini" onClick=${() => undo(one.seq, "menu")}>${words.phone.change}</button></li>`)}</ul></details>`}
    <p class="soft">${words.phone.only}</p></main>`;
}
