// The import wizard: every column gets a role; choices about gaps and known groups; then open.
import { html, useState } from "./base.js";
import { complain, preview, refresh, status } from "./state.js";
import { post } from "./transport.js";
import { words } from "./words.js";

const text = words.import, ROWS = 12;
const FILE = ["decimal", "encoding", "missing"];   // how the file is written: mostly found out, so folded away

export function Import() {
  const [busy, setBusy] = useState(false), told = preview.value;
  const roles = () => Object.fromEntries(told.columns.map((one) => [one.name, one.role]));
  const choices = () => Object.fromEntries((told.notes || []).filter((one) => one.choices).map((one) => [one.key, one.choices.find((c) => c.chosen)?.key]));
  const again = async (change) => {
    try { preview.value = await post("preview", { upload: told.upload, roles: roles(), options: choices(), ...change }); } catch (problem) { complain(problem); }
  };
  const open = async () => {
    setBusy(true);
    try { await post("open", { upload: told.upload, roles: roles(), options: choices() }); preview.value = null; status.value = "loading"; await refresh(true); } catch (problem) { complain(problem); } finally { setBusy(false); }
  };
  const back = () => { preview.value = null; status.value = "start"; };
  const notes = told.notes || [], written = notes.filter((note) => FILE.includes(note.key));
  const asked = (note) => html`<fieldset class="choice" key=${note.key}><legend>${note.words}</legend>
    ${(note.choices || []).map((one) => html`<label><input type="radio" name=${note.key} checked=${Boolean(one.chosen)} onChange=${() => again({ options: { ...choices(), [note.key]: one.key } })} /> ${one.words}</label>`)}</fieldset>`;
  return html`<main class="import"><header class="bar"><h1 dir="auto">${told.name}</h1><span class="soft">${text.rows(told.rows)} · ${text.columns(told.columns.length)}${told.encoding ? ` · ${told.encoding}` : ""}</span><span class="grow"></span>
      <span class="buttons"><button class="plain" onClick=${back}>${text.back}</button><button class="primary" id="open" disabled=${busy || Boolean(told.error)} onClick=${open}>${busy ? text.working : text.open}</button></span></header>
    <h2>${text.title}</h2>
    ${told.error && html`<p class="bad" role="alert">${told.error.message} ${told.error.hint || ""}</p>`}
    <div class="sheet" tabindex="0" role="region" aria-label=${text.title}><table class="roles"><thead>
      <tr>${told.columns.map((one) => html`<th scope="col" dir="auto" class=${told.error?.column === one.name ? "bad" : one.role}>${one.name}<select aria-label=${`${text.role} ${one.name}`} onChange=${(e) => again({ roles: { ...roles(), [one.name]: e.target.value } })}>
        ${(one.roles || Object.keys(words.roles)).map((role) => html`<option value=${role} selected=${role === one.role}>${words.roles[role] || role}</option>`)}</select><small>${words.roleHelp[one.role] || ""}</small></th>`)}</tr></thead>
      <tbody>${(told.sample || []).slice(0, ROWS).map((row) => html`<tr>${row.map((cell, at) => html`<td dir="auto" class=${told.columns[at]?.role}>${cell === null ? "–" : String(cell).slice(0, 160)}</td>`)}</tr>`)}</tbody></table></div>
    <p class="soft">${text.first(Math.min(ROWS, (told.sample || []).length))}</p>
    ${notes.filter((note) => !FILE.includes(note.key)).map(asked)}
    ${told.will && html`<p class="will"><b>${text.willDo}</b> ${told.will}</p>`}
    ${written.length > 0 && html`<details class="written"><summary>${text.written}</summary>${written.map(asked)}</details>`}
  </main>`;
}
