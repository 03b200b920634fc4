// The workbench: its panes and tabs, the drawer that is open, the list of keys.
import { html, useEffect, useRef, useState, classes } from "./base.js";
import { PANES, PHONE, panel, project, wideness } from "./state.js";
import { words } from "./words.js";
import { KEYS, TREE_KEYS } from "./keys.js";
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
import { Phone } from "./phone.js";

export { listenToKeys } from "./keys.js";

function Help() {
  return html`<${Drawer} title=${words.helpTitle}><p>${words.helpLead}</p><dl class="keys">${[...Object.entries(KEYS).map(([key, [what]]) => [key === "Escape" ? "Esc" : key, what]), ...TREE_KEYS].map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl><//>`;
}
const PANELS = { history: History, compare: Compare, export: Export, people: People, why: Why, conflict: Conflict, help: Help };

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

export function Bench() {
  const [tab, setTab] = useState("tree"), tabs = { tree: Tree, map: MapPane, table: Table, knowledge: Knowledge };
  const Panel = PANELS[panel.value], drawer = Panel && html`<${Panel} />`;
  if (wideness.value < PHONE) return html`<${Phone} />${drawer}`;
  if (wideness.value < PANES) {
    const Pane = tabs[tab];
    return html`<main class=${classes("bench tabbed", drawer && "drawn")}><h1 class="unseen">${project.value.name}</h1><div class="tabs" role="tablist" onKeyDown=${(e) => { const all = Object.keys(tabs), step = { ArrowRight: 1, ArrowLeft: -1 }[e.key]; if (step) { const to = all[(all.indexOf(tab) + step + all.length) % all.length]; setTab(to); e.currentTarget.querySelector(`#tab-${to}`).focus(); } }}>
      ${Object.keys(tabs).map((name) => html`<button role="tab" id=${`tab-${name}`} aria-selected=${tab === name ? "true" : "false"} aria-controls="tab-body" tabindex=${tab === name ? 0 : -1} onClick=${() => setTab(name)}>${words.panes[name]}</button>`)}</div>
      <div id="tab-body" class="tab-body" role="tabpanel" aria-labelledby=${`tab-${tab}`}><${Pane} key=${tab} /></div><${Card} />${drawer}</main>`;
  }
  return html`<main class=${classes("bench", drawer && "drawn")}><h1 class="unseen">${project.value.name}</h1><div class="grid-panes"><${Tree} /><${MapPane} /><${Table} /><${Card} /><${Knowledge} />
    <${Splitter} name="split-a" label=${`${words.panes.tree} | ${words.panes.map}`} start=${42} low=${20} high=${60} /><${Splitter} name="split-b" label=${`${words.panes.map} | ${words.panes.table}`} start=${68} low=${62} high=${86} /><${Splitter} name="split-c" horizontal=${true} label=${`${words.panes.tree} | ${words.panes.question}`} start=${54} low=${25} high=${80} /></div>${drawer}</main>`;
}
