// What can be said about the selection: buttons with their keys, and the small form that names a branch.
import { html, useEffect, useRef, useState } from "./base.js";
import { lockSelection, moving, focused, nameOf, nameSelection, openPanel, panel, project, sayAbout, selection, splitBranch, tree } from "./state.js";
import { pictureAddress } from "./transport.js";
import { branchItems } from "./tree.js";
import { branchWords, short, words } from "./words.js";

const text = words.select;
export const naming = { open: null };

/** Take the focused branch in hand; the arrows then walk to the target. */
export function startMove() {
  const now = tree.value, v = focused.value;
  if (!now || v < 0 || now.parent[v] < 0) return;
  moving.value = { node: v, words: branchWords(branchItems(now, v)), by: "key" };
  document.querySelector("#tree")?.focus();
}

export function Actions() {
  const rows = selection.value, n = rows.length, [open, setOpen] = useState(false), field = useRef();
  naming.open = () => n && setOpen(true);
  useEffect(() => { if (open) field.current?.focus(); }, [open]);
  const button = (label, key, on, can, title) => html`<button class="plain" disabled=${!can} title=${title} onClick=${on}>${label}<kbd>${key}</kbd></button>`;
  return html`<div class="actions" role="group" aria-label=${words.table.selected(n)}>
    ${n ? html`<p class="chosen" dir="auto">${rows.slice(0, 3).map((row, at) => html`<span>${["①", "②", "③"][at]} ${project.value?.picture && html`<img src=${pictureAddress(row)} alt="" /> `}${short(nameOf(row), 22)}</span> `)}${n > 3 ? html`<span class="soft">+ ${n - 3}</span>` : ""}</p>` : html`<p class="soft">${text.none}</p>`}
    <div class="buttons">${button(text.together, "T", () => sayAbout("together"), n > 1)}${button(text.apart, "A", () => sayAbout("apart"), n > 1)}
      ${n === 3 && button(text.closer, "C", () => sayAbout("triplet"), true, text.closerHint)}
      ${button(text.why, "w", () => { panel.value = null; openPanel("why"); }, n >= 2)}
      ${button(text.move, "M", startMove, focused.value >= 0, text.moveHint)}${button(text.split, "S", () => splitBranch(), focused.value >= 0 && tree.value?.first[focused.value] >= 0, text.splitHint)}${button(text.lock, "L", () => lockSelection("menu"), n > 1)}${button(text.name, "N", () => setOpen(true), n > 0)}</div>
    ${open && html`<form class="note" onSubmit=${(e) => { e.preventDefault(); nameSelection(field.current.value.trim(), "menu"); setOpen(false); }} onKeyDown=${(e) => { if (e.key === "Escape") setOpen(false); e.stopPropagation(); }}>
      <label>${text.namePrompt}<input ref=${field} maxlength="200" /></label><button>${text.name}</button></form>`}
  </div>`;
}
