// The tree pane: one canvas, and beside it a small mirror of the focused branch for keyboards and screen readers.
import { html, useEffect, useRef, useState, fitCanvas, perFrame, settled } from "./base.js";
import { branchesAt, rowsBelow } from "./arrays.js";
import {
  clusterName,
  dark,
  drop,
  focused,
  found,
  hinted,
  hovered,
  moving,
  nameOf,
  nextHit,
  position,
  project,
  saidCount,
  say,
  scrub,
  search,
  select,
  selected,
  spoken,
  stale,
  tree,
} from "./state.js";
import { pick } from "./draw.js";
import { cutHeight, paint, view } from "./paint.js";
import { branchWords, words } from "./words.js";
import { Minimap } from "./minimap.js";
import { openDrop } from "./move.js";

export { view };
const text = words.tree;

/** One branch as a sentence, for the live region and the mirror. */
export function describe(now, v) {
  const rows = rowsBelow(now, v);
  let said = 0;
  for (const row of rows.length > 5000 ? rows.subarray(0, 5000) : rows) said += saidCount.value.get(row) || 0;
  if (rows.length === 1) return text.leaf(nameOf(rows[0]), said);
  return text.branch(rows.length, now.cluster[v] >= 0 ? clusterName(now.cluster[v]) : "", now.height[v], said);
}
export const branchItems = (now, v) => Array.from(rowsBelow(now, v), nameOf);

/** Walk from a node: parent, first child, neighbors at the same depth of the walk. */
export function walk(now, v, where) {
  if (v < 0) return now.roots[0];
  if (where === "ArrowLeft") return now.parent[v] >= 0 ? now.parent[v] : v;
  if (where === "ArrowRight") return now.first[v] >= 0 ? now.first[v] : v;
  const down = where === "ArrowDown";
  let edge = down ? now.start[v] + now.size[v] : now.start[v] - 1;
  if (edge < 0 || edge >= now.n_leaves) return v;
  let at = now.leafAt[edge];
  while (
    now.parent[at] >= 0 &&
    now.size[now.parent[at]] <= now.size[v] &&
    (down ? now.start[now.parent[at]] === edge : now.start[now.parent[at]] + now.size[now.parent[at]] - 1 === edge)
  )
    at = now.parent[at];
  return at;
}
/** Bring a branch into view if it is outside. */
function reveal(now, v) {
  const a = view.y(now.start[v]),
    b = view.y(now.start[v] + now.size[v]);
  if (b - a > view.height) return;
  if (a < 0) view.top = now.start[v] - 1;
  else if (b > view.height) view.top = now.start[v] + now.size[v] + 1 - view.height / view.scale;
  view.clamp(now);
}

function Mirror({ now }) {
  const v = focused.value;
  if (v < 0) return html`<div role="treeitem" id="tree-none" aria-selected="false">${text.label}</div>`;
  const family = [];
  for (let c = now.first[v]; c >= 0 && family.length < 20; c = now.next[c]) family.push([c, 3]);
  const p = now.parent[v],
    around = [];
  if (p >= 0) for (let c = now.first[p]; c >= 0 && around.length < 20; c = now.next[c]) if (c !== v) around.push([c, 2]);
  const shown = [...(p >= 0 ? [[p, 1]] : []), [v, 2], ...family, ...around];
  return html`${shown.map(
    ([u, level]) => html`<div role="treeitem" key=${u} id=${`node-${u}`} aria-level=${level} aria-selected=${u === v ? "true" : "false"}
    aria-expanded=${now.first[u] >= 0 ? "true" : undefined}>${describe(now, u)}</div>`,
  )}`;
}

export function Tree() {
  const canvas = useRef(),
    host = useRef(),
    field = useRef(),
    held = useRef(null),
    first = useRef(true);
  const [turn, setTurn] = useState(0),
    [cutting, setCutting] = useState(null);
  const now = tree.value,
    v = focused.value;
  const again = useRef();
  again.current = () => canvas.current && paint(canvas.current, tree.value, cutting);
  const redraw = useRef(perFrame(() => canvas.current && again.current())).current;
  const moved = () => {
    view.clamp(tree.value);
    setTurn((t) => t + 1);
    redraw();
  };
  useEffect(
    () =>
      fitCanvas(canvas.current, () => {
        const whole = first.current || view.scale <= view.least(tree.value || { n_leaves: 1 }) * 1.01;
        again.current();
        if (tree.value && whole) {
          view.fit(tree.value);
          first.current = false;
        }
        redraw();
        setTurn((t) => t + 1);
      }),
    [],
  );
  useEffect(() => {
    if (now && first.current) {
      first.current = false;
      view.fit(now);
    }
    if (now) view.clamp(now);
    setTurn((t) => t + 1);
  }, [now]);
  useEffect(() => {
    if (now && v >= 0) {
      reveal(now, v);
      spoken.value = describe(now, v);
      setTurn((t) => t + 1);
    }
  }, [v, now]);
  useEffect(redraw, [
    now,
    v,
    turn,
    cutting,
    hovered.value,
    selected.value,
    moving.value,
    found.value,
    hinted.value,
    dark.value,
    nameOf(0),
    saidCount.value,
  ]);
  useEffect(() => {
    const wheel = (event) => {
      if (!tree.value) return;
      event.preventDefault();
      const box = canvas.current.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) view.zoom(tree.value, Math.exp(-event.deltaY * 0.004), (event.clientY - box.top) * view.dense);
      else view.top += (event.deltaY * view.dense) / view.scale;
      moved();
    };
    canvas.current.addEventListener("wheel", wheel, { passive: false });
    return () => canvas.current?.removeEventListener("wheel", wheel);
  }, []);
  const at = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return [(event.clientX - box.left) * view.dense, (event.clientY - box.top) * view.dense];
  };
  const onCut = (x, y) =>
    now && cutHeight(now) !== null && Math.abs(x - view.x(cutHeight(now))) < 6 * view.dense && (y < 16 * view.dense || !hovered.value);
  const down = (event) => {
    if (!now || event.button !== 0) return;
    const [x, y] = at(event),
      node = pick(now, view, x, y);
    held.current = { x, y, node, top: view.top, what: onCut(x, y) ? "cut" : event.pointerType === "touch" ? "pan" : "press" };
    canvas.current.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    if (!now) return;
    const [x, y] = at(event),
      grip = held.current,
      node = pick(now, view, x, y);
    if (grip?.what === "cut") {
      setCutting(Math.max(0.001, Math.min(1, view.heightAt(x))));
      return;
    }
    if (grip?.what === "pan") {
      view.top = grip.top - (y - grip.y) / view.scale;
      moved();
      return;
    }
    if (
      grip?.what === "press" &&
      grip.node >= 0 &&
      now.parent[grip.node] >= 0 &&
      Math.hypot(x - grip.x, y - grip.y) > 8 * view.dense &&
      !position.value &&
      !project.value?.readonly
    ) {
      grip.what = "drag";
      moving.value = { node: grip.node, words: branchWords(branchItems(now, grip.node)), by: "drag" };
    }
    const inside =
      grip?.what === "drag" &&
      node >= 0 &&
      now.start[node] >= now.start[grip.node] &&
      now.start[node] + now.size[node] <= now.start[grip.node] + now.size[grip.node];
    hovered.value = node >= 0 && !inside ? { node, rows: Array.from(rowsBelow(now, node)) } : null;
    canvas.current.classList.toggle("grab", grip?.what === "drag");
  };
  const up = (event) => {
    const grip = held.current,
      [x, y] = at(event);
    held.current = null;
    canvas.current.classList.remove("grab");
    if (!grip || !now) return;
    if (grip.what === "cut") {
      if (cutting !== null) say("cut", { k: branchesAt(now, cutting) }, "drag");
      setCutting(null);
      return;
    }
    const node = pick(now, view, x, y);
    if (grip.what === "drag") {
      moving.value = null;
      const box = canvas.current.getBoundingClientRect();
      if (node >= 0)
        openDrop(now, grip.node, node, { x: event.clientX - box.left, y: event.clientY - box.top, height: view.heightAt(x) }, "drag");
      return;
    }
    const still = grip.what === "press" || (grip.what === "pan" && Math.hypot(x - grip.x, y - grip.y) < 8 * view.dense); // a tap
    if (still && node >= 0 && moving.value) {
      const from = moving.value.node,
        box = canvas.current.getBoundingClientRect();
      moving.value = null;
      openDrop(now, from, node, { x: event.clientX - box.left, y: event.clientY - box.top, height: view.heightAt(x) }, "menu");
      return;
    }
    if (still && node >= 0) {
      focused.value = node;
      select(rowsBelow(now, node), event.shiftKey || event.ctrlKey || event.metaKey ? "toggle" : "set");
    }
  };
  const key = (event) => {
    if (!now || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key.startsWith("Arrow")) focused.value = walk(now, v, event.key);
    else if (event.key === "Enter" && moving.value && v >= 0) {
      const from = moving.value.node;
      moving.value = null;
      openDrop(now, from, v, { height: now.height[v] }, "key");
    } else if (event.key === "Enter" && v >= 0) select(rowsBelow(now, v), event.shiftKey ? "toggle" : "set");
    else if (event.key === "+" || event.key === "=") {
      view.zoom(now, 1.5, v >= 0 ? view.y(now.y[v]) : view.height / 2);
      moved();
    } else if (event.key === "-") {
      view.zoom(now, 1 / 1.5, view.height / 2);
      moved();
    } else if (event.key === "f" && v >= 0) {
      view.fit(now, now.start[v], now.size[v]);
      moved();
    } else if (event.key === "0") {
      view.fit(now);
      moved();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const typed = useRef(settled((q) => search(q), 150)).current;
  const zoomBy = (factor) => {
    view.zoom(now, factor, view.height / 2);
    moved();
  };
  const k = cutting !== null && now ? branchesAt(now, cutting) : now?.k;
  return html`<section class="pane tree-pane" aria-label=${words.panes.tree}>
    <header><h2>${words.panes.tree}</h2>
      <label class="search"><span class="unseen">${text.search}</span>
        <input id="search" ref=${field} type="search" placeholder="${text.search}  /" onInput=${(e) => typed(e.target.value)}
        onKeyDown=${(e) => {
          if (e.key === "Enter") {
            nextHit(e.shiftKey ? -1 : 1);
            e.preventDefault();
          }
          if (e.key === "Escape") {
            e.target.value = "";
            search("");
            host.current.focus();
          }
          if (e.key === "ArrowDown") host.current.focus();
        }} /></label>
      ${found.value.q && html`<span class="soft hits">${text.hits(found.value.total ? found.value.at + 1 : 0, found.value.total)}</span>`}
      <span class="grow"></span>
      ${stale.value && html`<span class="soft">${text.updating}</span>`}
      ${
        now &&
        html`<label class="groups">
        <input id="groups" type="number" min="1" max=${now.n_leaves} value=${k} onChange=${(e) => {
          const k2 = Math.round(Number(e.target.value));
          if (k2 >= 1 && k2 <= now.n_leaves) say("cut", { k: k2 });
        }} /> ${text.groups}</label>
      <span class="zoom"><button class="mini" title=${text.zoomOut} aria-label=${text.zoomOut} onClick=${() => zoomBy(1 / 1.6)}>–</button>
        <button class="mini" title=${text.zoomIn} aria-label=${text.zoomIn} onClick=${() => zoomBy(1.6)}>+</button>
        <button class="mini" title=${text.fit} onClick=${() => {
          view.fit(now);
          moved();
        }}>${text.fit}</button></span>`
      }
    </header>
    ${
      position.value &&
      html`<p class="past">${text.oldTree(position.value)} <button class="link" onClick=${() => scrub(null)}>
        ${text.backToNow}</button></p>`
    }
    ${
      moving.value &&
      html`<p class="past">
      ${moving.value.by === "drag" ? words.move.drag(moving.value.words) : words.move.how(moving.value.words)}</p>`
    }
    <div class="canvases">
      <div id="tree" class=${stale.value ? "host stale" : "host"} role="tree" tabindex="0" ref=${host} aria-label=${text.label} aria-activedescendant=${v >= 0 ? `node-${v}` : "tree-none"} onKeyDown=${key}>
        <canvas ref=${canvas} aria-hidden="true" onPointerDown=${(e) => {
          host.current.focus();
          down(e);
        }} onPointerMove=${move} onPointerUp=${up} onPointerLeave=${() => {
          if (!held.current) hovered.value = null;
        }}
          onDblClick=${(e) => {
            const node = now ? pick(now, view, ...at(e)) : -1;
            if (node >= 0) {
              view.fit(now, now.start[node], now.size[node]);
              moved();
            }
          }}></canvas>
        <div class="unseen">${
          now
            ? html`<${Mirror} now=${now} />`
            : html`<div role="treeitem" id="tree-none" aria-selected="false">
            ${text.empty}</div>`
        }</div>
        ${!now && html`<p class="empty" aria-hidden="true">${text.empty}</p>`}
      </div>
      <${Minimap} view=${view} version=${turn} go=${(leaf) => {
        view.top = leaf - view.height / view.scale / 2;
        moved();
      }} />
    </div>
    ${drop.value && html`<${drop.value.Bubble} />`}
  </section>`;
}
