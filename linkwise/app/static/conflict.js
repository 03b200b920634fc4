// Statements that cannot all be true: the fewest changes first, one click each; the proof is folded.
import { html, moment, useEffect, useState } from "./base.js";
import { complain, confirm, conflicts, panel, say, seq, statements, who } from "./state.js";
import { get } from "./transport.js";
import { statementWords, words } from "./words.js";
import { Drawer } from "./drawer.js";

const text = words.conflict;

export async function readConflicts() {
  try {
    conflicts.value = (await get("conflicts")).conflicts || [];
  } catch (problem) {
    complain(problem);
  }
}

export function Conflict() {
  const [at, setAt] = useState(0),
    all = conflicts.value,
    one = all[Math.min(at, all.length - 1)];
  useEffect(() => {
    readConflicts();
  }, [seq.value]);
  const settle = async (fix, action) => {
    const reply = await say("repair", { targets: [{ seq: fix.seq, action, ...(fix.line ? { line: fix.line } : {}) }] }, "repair");
    confirm(reply, { op: "repair", body: { targets: [{ seq: fix.seq, action }] } });
    if (reply) {
      await readConflicts();
      if (!conflicts.value.length && panel.value === "conflict") panel.value = null;
    }
  };
  const sentence = (fix) => {
    const said = statements.value.find((s) => s.seq === fix.seq);
    return fix.words || (said ? statementWords(said) : `#${fix.seq}`);
  };
  return html`<${Drawer} title=${text.title}>
    ${
      !one
        ? html`<p class="soft">${words.top.hold}</p>`
        : html`<p>${text.lead}</p>
      <ol class="fixes">${one.fixes.map(
        (fix) => html`<li key=${`${fix.seq}-${fix.line || 0}`}><p>
            <b class="number">#${fix.seq}</b> <span dir="auto">${sentence(fix)}</span> <span class="soft">
              ${[fix.who === who.value ? "" : fix.who, moment(fix.at)].filter(Boolean).join(", ")}</span></p>
        <div class="buttons">
          ${(fix.actions || ["drop", "flip", "soften"]).map(
            (action) => html`<button class="plain" onClick=${() => settle(fix, action)}>
            ${text[action]}</button>`,
          )}</div></li>`,
      )}</ol>
      ${
        one.proof?.length > 0 &&
        html`<details><summary>${text.proof((one.seqs || one.proof).length)}</summary><ul class="proof">
          ${one.proof.map((line) => html`<li dir="auto">${line}</li>`)}</ul></details>`
      }
      ${
        all.length > 1 &&
        html`<button class="plain" onClick=${() => setAt((at + 1) % all.length)}>
        ${text.next} (${Math.min(at, all.length - 1) + 1} / ${all.length})</button>`
      }`
    }
  <//>`;
}
