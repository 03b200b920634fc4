// The page: which screen is shown, the bar at the top, the panes of the workbench and the drawer.
import { html, render, useEffect, useRef, useState, classes } from "./base.js";
import { begin, complain, conflicts, engine, leave, notice, openPanel, panel, people, position, progress, project, quit, spoken, statements, status, tell, turnTheme, undo, verdict, wideness } from "./state.js";
import { notSaved, reachable, unsaved } from "./transport.js";
import { words } from "./words.js";
import { KEYS, listenToKeys, TREE_KEYS } from "./keys.js";
import { Drawer } from "./drawer.js";
import { Tree } from "./tree.js";
import { MapPane } from "./map.js";
import { Table } from "./table.js";
import { Card } from "./card.js";
import { Knowledge } from "./knowledge.js";
import { Conflict } from "./conflict.js";
import { Why } from "./why.js";
import { Compare, History } from "./history.js";
import { Export } from "./export.js";
import { People } from "./people.js";
import { Start } from "./start.js";
import { Import } from "./import.js";
import { Phone } from "./phone.js";

const text = words.top, WIDE = 1100, NARROW = 640;

function Help() {
  return html`<${Drawer} title=${words.helpTitle}><p>${words.helpLead}</p><dl class="keys">${[...Object.entries(KEYS).map(([key, [what]]) => [key === "Escape" ? "Esc" : key, what]), ...TREE_KEYS].map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl><//>`;
}
const PANELS = { history: History, compare: Compare, export: Export, people: People, why: Why, conflict: Conflict, help: Help };

function Verdict() {
  const { holds = 0, broken = 0, doubted = 0, waiting = 0 } = verdict.value;
  if (conflicts.value.length) return html`<button class="pill bad" onClick=${() => { panel.value = "conflict"; }}>! ${text.conflict}<kbd>x</kbd></button>`;
  if (broken) return html`<span class="pill warn">✕ ${text.broken(broken)}</span>`;
  if (doubted) return html`<span class="pill warn">~ ${text.doubted(doubted)}</span>`;
  if (!holds && !waiting) return html`<span class="pill">${text.nothing}</span>`;
  return waiting ? html`<span class="pill">${text.waiting}</span>` : html`<span class="pill good">✓ ${text.hold}</span>`;
}

function Top() {
  const now = status.value, bench = now === "bench", said = statements.value.filter((one) => !["open", "undo"].includes(one.op)).length, phone = wideness.value < NARROW;
  const button = (name, key) => html`<button class="plain" id=${`show-${name}`} aria-expanded=${panel.value === name ? "true" : "false"} onClick=${() => openPanel(name)}>${words.buttons[name]}${key ? html`<kbd>${key}</kbd>` : ""}</button>`;
  return html`<header class="top"><span class="brand" aria-hidden="true"><svg viewBox="0 0 20 20"><path d="M2 10h4M6 4v12M6 4h5M6 16h12M11 1.5v5M11 1.5h7M11 6.5h7" /></svg></span>
    ${bench ? html`<span class="project" dir="auto">${project.value.name}</span><${Verdict} />${!phone && html`<span class="soft facts">${text.said(said)}${progress.value.settled ? ` · ${text.settled(progress.value.settled)}` : ""}</span>`}` : html`<span class="project">${words.name}</span>`}
    ${(unsaved.value > 1 || (unsaved.value > 0 && (!reachable.value || notSaved.value))) && html`<span class="pill bad" role="status" title=${text.notSavedHint}>${text.unsaved(unsaved.value)}${notSaved.value ? `: ${notSaved.value}` : ""}</span>`}
    ${!reachable.value && now !== "ended" && html`<span class="pill bad" role="status">${text.offline}</span>`}
    ${bench && project.value.readonly && html`<span class="pill warn">${text.readonly}</span>`}
    ${engine.value.state === "down" && html`<span class="pill warn">${engine.value.message || engine.value.stage}</span>`}
    <span class="grow"></span>
    ${bench && !phone && html`${people.value.length > 1 && button("people")}${button("history", "[ ]")}${button("compare")}${button("export", "e")}`}
    ${bench && phone && html`<button class="plain" onClick=${() => undo(undefined, "menu")}>${words.card.undo}</button>`}
    ${bench && html`<button class="plain round" aria-label=${words.help} title=${words.help} onClick=${() => openPanel("help")}>?</button>`}
    ${bench && !phone && html`<button class="plain" id="leave" onClick=${leave}>${words.buttons.home}</button>`}
    ${now !== "out" && now !== "ended" && !(bench && phone) && html`<button class="plain" id="quit" title=${words.quit.title} onClick=${quit}>${words.quit.button}</button>`}
    <button class="plain round" aria-label=${words.theme} title=${words.theme} onClick=${turnTheme}>◐</button></header>`;
}

/** A bar between two panes: drag it, or use the arrows. The size is a CSS variable of the grid. */
function Splitter({ name, label, horizontal, start, low, high }) {
  const size = useRef(Number(localStorage.getItem(`linkwise-${name}`)) || start), bar = useRef();
  const set = (value) => {
    size.current = Math.max(low, Math.min(high, value));
    bar.current.parentElement.style.setProperty(`--${name}`, `${size.current}%`);
    bar.current.setAttribute("aria-valuenow", Math.round(size.current));
    localStorage.setItem(`linkwise-${name}`, size.current);
  };
  useEffect(() => set(size.current), []);
  const drag = (event) => {
    if (!(event.buttons & 1)) return;
    const box = bar.current.parentElement.getBoundingClientRect();
    set(horizontal ? 100 * (event.clientY - box.top) / box.height : 100 * (event.clientX - box.left) / box.width);
  };
  const key = (event) => { const step = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[event.key]; if (step) { set(size.current + step); event.preventDefault(); } };
  return html`<div class=${classes("splitter", name, horizontal && "flat")} role="separator" tabindex="0" ref=${bar} aria-label=${label} aria-orientation=${horizontal ? "horizontal" : "vertical"} aria-valuemin=${low} aria-valuemax=${high} aria-valuenow=${Math.round(size.current)}
    onPointerDown=${(e) => bar.current.setPointerCapture(e.pointerId)} onPointerMove=${drag} onKeyDown=${key}></div>`;
}

function Bench() {
  const [tab, setTab] = useState("tree"), tabs = { tree: Tree, map: MapPane, table: Table, knowledge: Knowledge };
  if (wideness.value < NARROW) return html`<${Phone} />`;
  const Panel = PANELS[panel.value], drawer = Panel && html`<${Panel} />`;
  if (wideness.value < WIDE) {
    const Pane = tabs[tab];
    return html`<main class=${classes("bench tabbed", drawer && "drawn")}><h1 class="unseen">${project.value.name}</h1><div class="tabs" role="tablist" onKeyDown=${(e) => { const all = Object.keys(tabs), step = { ArrowRight: 1, ArrowLeft: -1 }[e.key]; if (step) { const to = all[(all.indexOf(tab) + step + all.length) % all.length]; setTab(to); e.currentTarget.querySelector(`#tab-${to}`).focus(); } }}>
      ${Object.keys(tabs).map((name) => html`<button role="tab" id=${`tab-${name}`} aria-selected=${tab === name ? "true" : "false"} aria-controls="tab-body" tabindex=${tab === name ? 0 : -1} onClick=${() => setTab(name)}>${words.panes[name]}</button>`)}</div>
      <div id="tab-body" class="tab-body" role="tabpanel" aria-labelledby=${`tab-${tab}`}><${Pane} key=${tab} /></div><${Card} />${drawer}</main>`;
  }
  return html`<main class=${classes("bench", drawer && "drawn")}><h1 class="unseen">${project.value.name}</h1><div class="grid-panes"><${Tree} /><${MapPane} /><${Table} /><${Card} /><${Knowledge} />
    <${Splitter} name="split-a" label=${`${words.panes.tree} | ${words.panes.map}`} start=${42} low=${20} high=${60} /><${Splitter} name="split-b" label=${`${words.panes.map} | ${words.panes.table}`} start=${68} low=${62} high=${86} /><${Splitter} name="split-c" horizontal=${true} label=${`${words.panes.tree} | ${words.panes.question}`} start=${54} low=${25} high=${80} /></div>${drawer}</main>`;
}

function App() {
  const now = status.value;
  return html`<${Top} />
    ${now === "loading" ? html`<p class="loading">${words.loading}</p>` : now === "out" ? html`<main class="out"><h1>${words.signedOut}</h1><p>${words.signedOutHint}</p></main>` : now === "ended" ? html`<main class="out"><h1>${words.quit.ended}</h1><p>${words.quit.endedHint}</p></main>` : now === "start" ? html`<${Start} />` : now === "import" ? html`<${Import} />` : html`<${Bench} />`}
    <div class="unseen" aria-live="polite" id="spoken">${spoken.value}</div>
    ${notice.value && html`<div class=${`notice ${notice.value.kind}`} role=${notice.value.kind === "bad" ? "alert" : undefined}>${notice.value.text}<button class="mini" onClick=${() => { notice.value = null; }}>${words.close}</button></div>`}`;
}

const root = document.querySelector("#app");
root.replaceChildren();
render(html`<${App} />`, root);
listenToKeys();
begin().then(() => { document.body.dataset.ready = "yes"; }, (problem) => { complain(problem); if (!reachable.value) tell(text.offline, "bad"); });
