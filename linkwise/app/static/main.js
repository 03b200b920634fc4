// The page: which screen is shown, and the bar at the top.
import { html, render, signal } from "./base.js";
import {
  PHONE,
  begin,
  complain,
  conflicts,
  engine,
  leave,
  notice,
  openPanel,
  panel,
  people,
  progress,
  project,
  quit,
  spoken,
  statements,
  status,
  tell,
  turnTheme,
  undo,
  verdict,
  wideness,
} from "./state.js";
import { notSaved, reachable, unsaved } from "./transport.js";
import { words } from "./words.js";
import { Start } from "./start.js";

const text = words.top;
// What the start page does not need comes right after it: the import of a table, and the workbench with its keys.
const later = signal({});
const styled = (href) =>
  new Promise((onload, onerror) => {
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload, onerror }));
  });
const load = () =>
  Promise.all([import("./import.js"), import("./bench.js"), styled("/static/bench.css")])
    .then(([{ Import }, { Bench, listenToKeys }]) => {
      later.value = { import: Import, bench: Bench };
      listenToKeys();
    })
    .catch(() => tell(text.offline, "bad"));

function Verdict({ phone }) {
  const { holds = 0, broken = 0, doubted = 0, waiting = 0 } = verdict.value;
  if (conflicts.value.length)
    return html`<button class="pill bad" onClick=${() => {
      panel.value = "conflict";
    }}>! ${
      phone
        ? text.conflictShort
        : html`${text.conflict}
    <kbd>x</kbd>`
    }</button>`;
  if (broken) return html`<span class="pill warn">✕ ${text.broken(broken)}</span>`;
  if (doubted) return html`<span class="pill warn">~ ${text.doubted(doubted)}</span>`;
  if (!holds && !waiting) return html`<span class="pill">${phone ? text.nothingShort : text.nothing}</span>`;
  if (waiting) return html`<span class="pill">${text.waiting}</span>`;
  return html`<span class="pill good">✓ ${phone ? text.holdShort : text.hold}</span>`;
}

function Top() {
  const now = status.value,
    bench = now === "bench",
    said = statements.value.filter((one) => !["open", "undo"].includes(one.op)).length,
    phone = wideness.value < PHONE;
  const button = (
    name,
    key,
  ) => html`<button class="plain" id=${`show-${name}`} aria-expanded=${panel.value === name ? "true" : "false"} onClick=${() => openPanel(name)}>
    ${words.buttons[name]}${key ? html`<kbd>${key}</kbd>` : ""}</button>`;
  return html`<header class="top"><span class="brand" aria-hidden="true"><svg viewBox="0 0 20 20">
        <path d="M2 10h4M6 4v12M6 4h5M6 16h12M11 1.5v5M11 1.5h7M11 6.5h7" /></svg></span>
    ${
      bench
        ? html`<span class="project" dir="auto">${project.value.name}</span><${Verdict} phone=${phone} />
      ${
        !phone &&
        html`<span class="soft facts">
        ${said > 0 && text.said(said)}${progress.value.settled ? ` · ${text.settled(progress.value.settled)}` : ""}</span>`
      }`
        : html`<span class="project">
        ${words.name}</span>`
    }
    ${
      (unsaved.value > 1 || (unsaved.value > 0 && (!reachable.value || notSaved.value))) &&
      html`<span class="pill bad" role="status" title=${text.notSavedHint}>
      ${text.unsaved(unsaved.value)}${notSaved.value ? `: ${notSaved.value}` : ""}</span>`
    }
    ${!reachable.value && now !== "ended" && html`<span class="pill bad" role="status">${text.offline}</span>`}
    ${bench && project.value.readonly && html`<span class="pill warn">${text.readonly}</span>`}
    ${engine.value.state === "down" && html`<span class="pill warn">${engine.value.message || engine.value.stage}</span>`}
    <span class="grow"></span>
    ${bench && !phone && html`${people.value.length > 1 && button("people")}${button("history", "[ ]")}${button("compare")}${button("export", "e")}`}
    ${bench && phone && html`<button class="plain" onClick=${() => undo(undefined, "menu")}>${words.card.undo}</button>`}
    ${bench && html`<button class="plain round" aria-label=${words.help} title=${words.help} onClick=${() => openPanel("help")}>?</button>`}
    ${bench && !phone && html`<button class="plain" id="leave" onClick=${leave}>${words.buttons.home}</button>`}
    ${
      now !== "out" &&
      now !== "ended" &&
      !(bench && phone) &&
      html`<button class="plain" id="quit" title=${words.quit.title} onClick=${quit}>
      ${words.quit.button}</button>`
    }
    <button class="plain round" aria-label=${words.theme} title=${words.theme} onClick=${turnTheme}>◐</button></header>`;
}

function App() {
  const now = status.value,
    Late = later.value[now];
  return html`<${Top} />
    ${
      now === "loading"
        ? html`<p class="loading">${words.loading}</p>`
        : now === "out"
          ? html`<main class="out"><h1>${words.signedOut}</h1>
      <p>${words.signedOutHint}</p></main>`
          : now === "ended"
            ? html`<main class="out"><h1>${words.quit.ended}</h1><p>
        ${words.quit.endedHint}</p></main>`
            : now === "start"
              ? html`<${Start} />`
              : Late
                ? html`<${Late} />`
                : html`<p class="loading">
      ${words.loading}</p>`
    }
    <div class="unseen" aria-live="polite" id="spoken">${spoken.value}</div>
    ${
      notice.value &&
      html`<div class=${`notice ${notice.value.kind}`} role=${notice.value.kind === "bad" ? "alert" : undefined}>
      ${notice.value.text}<button class="mini" onClick=${() => {
        notice.value = null;
      }}>${words.close}</button></div>`
    }`;
}

const root = document.querySelector("#app");
root.replaceChildren();
render(html`<${App} />`, root);
load();
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) location.reload();
}); // another link, in the same tab
begin().then(
  () => {
    document.body.dataset.ready = "yes";
  },
  (problem) => {
    complain(problem);
    if (!reachable.value) tell(text.offline, "bad");
  },
);
