// Why two items are together or apart, and what would change it; every change is a button.
import { html, useEffect, useState } from "./base.js";
import { complain, namesOf, say, selection, seq } from "./state.js";
import { get } from "./transport.js";
import { words } from "./words.js";
import { Drawer } from "./drawer.js";

const text = words.why;

export function Why() {
  const [told, setTold] = useState(null),
    [a, b] = namesOf(selection.value.slice(0, 2));
  useEffect(() => {
    setTold(null);
    if (b === undefined) return undefined;
    const stop = new AbortController();
    get("why", { a, b }, stop.signal).then(setTold).catch(complain);
    return () => stop.abort();
  }, [a, b, seq.value]);
  return html`<${Drawer} title=${b === undefined ? words.select.why : text.title(a, b)}>
    ${
      b === undefined
        ? html`<p class="soft">${text.pick}</p>`
        : !told
          ? html`<p class="soft">${text.working}</p>`
          : html`
      ${(told.words || []).map((line) => html`<p class="because" dir="auto">${line}</p>`)}
      ${
        told.changes?.length > 0 &&
        html`<h3>${text.otherwise}</h3><div class="buttons column">
        ${told.changes.map(
          (one) => html`<button class="plain" onClick=${() => say(one.op, one.body, "menu")}>
          ${one.words}</button>`,
        )}</div>`
      }`
    }
  <//>`;
}
