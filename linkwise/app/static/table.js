// The table: only rows in view exist; windows of rows are fetched when they come near.
import { html, useEffect, useRef, useState, settled } from "./base.js";
import {
  clusterName,
  clusterOf,
  complain,
  hovered,
  nameOf,
  project,
  saidCount,
  select,
  selected,
  selection,
  tableVersion,
  tree,
} from "./state.js";
import { clusterColor, textOn } from "./colors.js";
import { count } from "./base.js";
import { get } from "./transport.js";
import { words } from "./words.js";
import { Actions } from "./actions.js";

const ROW = 28,
  WINDOW = 100,
  text = words.table,
  MOST_COLUMNS = 12;

/** A colored letter for a group: color and number, so that color is not the only mark. */
export function Chip({ cluster }) {
  if (cluster === undefined || cluster < 0) return html`<span class="chip none">–</span>`;
  const color = clusterColor(cluster);
  return html`<span class="chip" style=${{ background: color, color: textOn(color) }} title=${clusterName(cluster)}>${cluster + 1}</span>`;
}

export function Table() {
  const box = useRef(),
    windows = useRef(new Map()),
    anchor = useRef(null);
  const [top, setTop] = useState(0),
    [tall, setTall] = useState(400),
    [facts, setFacts] = useState({ total: 0, columns: [] }),
    [asked, setAsked] = useState({ q: "", order: "", down: 0 }),
    [, setTurn] = useState(0),
    [cursor, setCursor] = useState(0);
  const version = tableVersion.value,
    name = project.value?.name;
  useEffect(() => {
    windows.current.clear();
    setTurn((t) => t + 1);
  }, [asked, name, asked.order === "tree" || asked.order === "cluster" ? version : 0]);
  useEffect(() => {
    const watch = new ResizeObserver(() => box.current && setTall(box.current.clientHeight));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const from = Math.max(0, Math.floor(top / ROW) - 5),
    to = Math.min(facts.total || WINDOW, Math.ceil((top + tall) / ROW) + 5);
  useEffect(() => {
    for (let w = Math.floor(from / WINDOW); w <= Math.floor(Math.max(0, to - 1) / WINDOW); w++) {
      if (windows.current.has(w)) continue;
      const mine = windows.current;
      mine.set(w, null);
      get("items", { from: w * WINDOW, n: WINDOW, q: asked.q, order: asked.order, down: asked.down || undefined })
        .then((told) => {
          if (windows.current !== mine) return;
          mine.set(w, told.rows);
          setFacts({ total: told.total, columns: told.columns });
          setTurn((t) => t + 1);
        })
        .catch((problem) => {
          mine.delete(w);
          complain(problem);
        });
    }
  }, [from, to, asked, name, version]);
  const rowAt = (at) => windows.current.get(Math.floor(at / WINDOW))?.[at % WINDOW];
  const filter = useRef(
    settled((q) => {
      windows.current = new Map();
      box.current.scrollTop = 0;
      setAsked((old) => ({ ...old, q }));
    }, 200),
  ).current;
  const order = (column) => {
    windows.current = new Map();
    setAsked((old) => ({ ...old, order: column, down: old.order === column && !old.down ? 1 : 0 }));
  };
  const take = (at, event) => {
    const row = rowAt(at);
    if (!row) return;
    if (event.shiftKey && anchor.current !== null) {
      const rows = [];
      for (let i = Math.min(at, anchor.current); i <= Math.max(at, anchor.current); i++) if (rowAt(i)) rows.push(rowAt(i).n);
      select(rows, event.ctrlKey || event.metaKey ? "add" : "set");
    } else {
      anchor.current = at;
      select([row.n], event.ctrlKey || event.metaKey ? "toggle" : "set");
    }
    setCursor(at);
  };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (step) {
      const at = Math.max(0, Math.min(facts.total - 1, cursor + step));
      setCursor(at);
      if (at * ROW < top) box.current.scrollTop = at * ROW;
      else if ((at + 2) * ROW > top + tall) box.current.scrollTop = (at + 2) * ROW - tall;
    } else if (event.key === " " || event.key === "Enter") take(cursor, { shiftKey: false, ctrlKey: true });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const columns = facts.columns.slice(0, MOST_COLUMNS),
    rows = [];
  for (let at = from; at < to; at++) if (rowAt(at)) rows.push([at, rowAt(at)]);
  const headed = (
    column,
    label,
  ) => html`<div role="columnheader" class="cell" aria-sort=${asked.order === column ? (asked.down ? "descending" : "ascending") : "none"}>
    <button onClick=${() => order(column)}>${label}${asked.order === column ? (asked.down ? " ↓" : " ↑") : ""}</button></div>`;
  return html`<section class="pane table-pane" aria-label=${words.panes.table}>
    <header><h2>${words.panes.table}</h2><span class="soft">
        ${count(facts.total)}${selection.value.length ? ` · ${text.selected(selection.value.length)}` : ""}</span><span class="grow"></span>
      <label class="search"><span class="unseen">${text.filter}</span>
        <input id="filter" type="search" placeholder=${text.filter} onInput=${(e) => filter(e.target.value)} /></label></header>
    <div class="grid" id="table" role="grid" tabindex="0" aria-label=${text.label} aria-rowcount=${facts.total + 1} aria-multiselectable="true" aria-activedescendant=${rowAt(cursor) ? `row-${rowAt(cursor).n}` : undefined} ref=${box} onScroll=${(e) => setTop(e.target.scrollTop)} onKeyDown=${key}>
      <div class="row head" role="row" aria-rowindex="1">
        ${headed("id", text.item)}${headed("cluster", text.cluster)}${headed("said", text.said)}${
          project.value?.text &&
          html`<div role="columnheader" class="cell words soft">
          ${text.text}</div>`
        }${columns.map((c) => headed(c.name ?? c, c.name ?? c))}</div>
      <div class="spacer" role="rowgroup" style=${{ height: `${Math.max(1, facts.total) * ROW}px` }}>
        ${rows.map(
          ([
            at,
            row,
          ]) => html`<div key=${row.n} id=${`row-${row.n}`} role="row" aria-rowindex=${at + 2} aria-selected=${selected.value.has(row.n) ? "true" : "false"} class=${`row${at === cursor ? " cursor" : ""}${hovered.value?.rows?.length < 50 && hovered.value.rows.includes(row.n) ? " near" : ""}`} style=${{ top: `${at * ROW}px` }}
          onMouseDown=${(e) => {
            if (e.button === 0) take(at, e);
          }} onMouseEnter=${() => {
            hovered.value = { rows: [row.n], node: tree.value ? row.n : -1 };
          }} onMouseLeave=${() => {
            hovered.value = null;
          }}>
          <div role="gridcell" class="cell name" dir="auto" title=${row.id}>${row.id ?? nameOf(row.n)}</div>
            <div role="gridcell" class="cell"><${Chip} cluster=${clusterOf(row.n)} /></div><div role="gridcell" class="cell number">
              ${saidCount.value.get(row.n) || ""}</div>
          ${project.value?.text && html`<div role="gridcell" class="cell words" dir="auto" title=${row.text}>${row.text}</div>`}
          ${columns.map(
            (c, i) => html`<div role="gridcell" class="cell" dir="auto">
            ${row.values[i] === null || row.values[i] === undefined ? "–" : String(row.values[i])}</div>`,
          )}</div>`,
        )}
        ${facts.total === 0 && asked.q && html`<div role="row"><div role="gridcell" class="empty">${text.none}</div></div>`}
      </div></div>
    <${Actions} />
  </section>`;
}
