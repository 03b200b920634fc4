// The start page: open a file, paste a table, continue a project, or try an example.
import { html, useRef, useState } from "./base.js";
import { complain, engine, preview, refresh, startPage, status, tell } from "./state.js";
import { post, upload } from "./transport.js";
import { words } from "./words.js";

const text = words.start;

async function opened(told) {
  if (told.preview || told.columns) {
    preview.value = told.preview || told;
    status.value = "import";
  } else await refresh(true);
}

export function Start() {
  const [over, setOver] = useState(false),
    [busy, setBusy] = useState(""),
    [pasting, setPasting] = useState(false),
    chooser = useRef(),
    area = useRef();
  const { recent = [], samples = [], offered } = startPage.value,
    coming = offered && !offered.problem; // a table that the terminal named
  const run = async (what, label) => {
    setBusy(label);
    try {
      await opened(await what());
    } catch (problem) {
      complain(problem);
    } finally {
      setBusy("");
    }
  };
  const take = (file) => file && run(() => upload(file.name, file), text.reading);
  const open = (body) => run(() => post("open", body), words.import.working);
  const paste = (event) => {
    event.preventDefault();
    const told = area.current.value;
    if (told.trim()) run(() => upload("pasted.tsv", new Blob([told], { type: "text/plain" })), text.reading);
  };
  const share = engine.value.share;
  return html`<main class="start"><div class="hero"><h1>${words.name}</h1><p class="lead">${text.lead}</p></div>
    <div class="start-grid"><section aria-labelledby="open-title"><h2 id="open-title">${text.title}</h2>
      <div class=${over ? "zone over" : "zone"} onDragOver=${(e) => {
        e.preventDefault();
        setOver(true);
      }} onDragLeave=${() => setOver(false)} onDrop=${(e) => {
        e.preventDefault();
        setOver(false);
        take(e.dataTransfer.files[0]);
      }}>
        <svg viewBox="0 0 48 32" aria-hidden="true">
          <path d="M4 16h10M14 6v20M14 6h12M14 26h8M26 2v8M26 2h18M26 10h18M22 22v8M22 22h22M22 30h22" /></svg>
        <p role="status" dir="auto">${busy || (coming ? text.readingFile(offered.name) : text.drop)}</p>
        ${offered?.problem && html`<p class="bad" role="alert">${offered.name}: ${offered.problem}</p>`}
        <div class="buttons"><button class="primary" onClick=${() => chooser.current.click()}>${text.choose}</button>
          <button class="plain" onClick=${() => setPasting(!pasting)}>${text.paste}</button></div>
        <input ref=${chooser} id="file" type="file" class="unseen" tabindex="-1" aria-label=${text.choose} onChange=${(e) => take(e.target.files[0])} /></div>
      ${
        pasting &&
        html`<form class="paste" onSubmit=${paste}><label>${text.pasteTitle}
          <textarea ref=${area} rows="7" placeholder=${text.pasteHint}></textarea></label><button class="primary">
          ${text.pasteGo}</button></form>`
      }
    </section>
    <section aria-labelledby="recent-title"><h2 id="recent-title">${text.recent}</h2>
      ${
        recent.length
          ? html`<ul class="recent">${recent.map(
              (one) => html`<li>
          <button onClick=${() => open({ recent: one.id ?? one.name })}><b dir="auto">${one.name}</b><span class="soft">
              ${[one.answers !== undefined && text.answers(one.answers), one.when].filter(Boolean).join(" · ")}</span></button></li>`,
            )}</ul>
        <button class="link" onClick=${() =>
          run(
            () =>
              post("open", { forget: true }).catch((p) => {
                tell(p.message, "bad");
                return {};
              }),
            "",
          )}>
          ${text.clear}</button>`
          : html`<p class="soft">${text.noRecent}</p>`
      }
      ${
        samples.length > 0 &&
        html`<h2>${text.tryOut}</h2><div class="buttons">
        ${samples.map(
          (one) => html`<button class="plain sample" onClick=${() => open({ sample: one.name })}>${one.name}<small>
            ${text.items(one.items)}</small></button>`,
        )}</div>`
      }
    </section></div>
    ${
      engine.value.state === "preparing" &&
      html`<p class="soft preparing">${text.preparing(share || 0)}
      <meter min="0" max="1" value=${share || 0} aria-label=${text.preparing(share || 0)}></meter></p>`
    }
  </main>`;
}
