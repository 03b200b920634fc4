// Exports: every file of the state on screen, and the code that makes it again without this page.
import { html, useEffect, useState } from "./base.js";
import { complain, position, seq } from "./state.js";
import { exportAddress, get } from "./transport.js";
import { words } from "./words.js";
import { Drawer } from "./drawer.js";

const text = words.export;

function Code({ title, code, id }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  return html`<div class="code"><header><h3>${title}</h3><span class="grow"></span>
      <button class="mini" onClick=${() => copy().catch(() => {})}>${done ? text.copied : text.copy}</button></header>
    <pre id=${id} tabindex="0" role="region" aria-label=${title}>${code}</pre></div>`;
}

export function Export() {
  const [told, setTold] = useState(null),
    at = position.value;
  useEffect(() => {
    setTold(null);
    get("export", { at }).then(setTold).catch(complain);
  }, [at, seq.value]);
  return html`<${Drawer} title=${text.title} wide=${true}>
    <p class="soft">${text.at(at ?? seq.value)}</p>
    ${
      !told
        ? html`<p class="soft" role="status">${text.working}</p>`
        : html`<ul class="files">${told.kinds.map(
        (one, n) => html`<li key=${one.kind}><span><b>${one.file}</b><small>
            ${one.words}</small></span>
        <a class=${n ? "button plain" : "button primary"} href=${exportAddress(one.kind, at)} download=${one.file}>
          ${text.get}</a></li>`,
      )}</ul>
      <h3>${text.again}</h3><p class="soft">${text.code}</p>
      <${Code} title=${text.python} code=${told.python} id="python" /><${Code} title=${text.shell} code=${told.shell} id="shell" />
      ${(told.gaps || []).map((line) => html`<p class="soft">${line}</p>`)}`
    }
  <//>`;
}
