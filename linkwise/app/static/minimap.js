// The whole tree, painted once per version into a canvas of its own; the frame of the view and ticks lie on top.
import { html, useEffect, useRef, fitCanvas } from "./base.js";
import { dark, found, selection, tree } from "./state.js";
import { paintBranches, View } from "./draw.js";
import { pageColor } from "./colors.js";
import { words } from "./words.js";

export function Minimap({ view, version, go }) {
  const canvas = useRef(),
    kept = useRef({});
  const now = tree.value,
    chosen = selection.value,
    hits = found.value.hits;
  const draw = () => {
    const at = canvas.current;
    if (!at || !now) return;
    const ctx = at.getContext("2d"),
      dense = devicePixelRatio || 1;
    if (kept.current.tree !== now || kept.current.width !== at.width || kept.current.height !== at.height) {
      const whole = new OffscreenCanvas(at.width, at.height),
        all = new View();
      Object.assign(all, { width: at.width * 1.4, height: at.height, dense, scale: at.height / now.n_leaves, top: 0 });
      Object.defineProperty(all, "right", { value: at.width - 2 });
      Object.defineProperty(all, "left", { value: 2 });
      paintBranches(whole.getContext("2d"), now, all);
      kept.current = { tree: now, width: at.width, height: at.height, whole };
    }
    ctx.clearRect(0, 0, at.width, at.height);
    ctx.drawImage(kept.current.whole, 0, 0);
    const each = at.height / now.n_leaves,
      tick = (rows, color, x) => {
        ctx.fillStyle = color;
        for (const row of rows) ctx.fillRect(x, now.start[row] * each, 4 * dense, Math.max(1, each));
      };
    tick(chosen, pageColor("--accent"), 0);
    tick(hits, pageColor("--closer"), 5 * dense);
    const from = Math.max(0, view.top) * each,
      to = Math.min(now.n_leaves, view.top + view.height / view.scale) * each;
    ctx.strokeStyle = pageColor("--accent");
    ctx.lineWidth = 1.5 * dense;
    ctx.strokeRect(1, from + 1, at.width - 2, Math.max(4, to - from - 2));
  };
  const drawing = useRef(draw);
  drawing.current = draw;
  useEffect(() => fitCanvas(canvas.current, () => drawing.current()), []);
  useEffect(draw, [now, chosen, hits, version, view.top, view.scale, dark.value]);
  const point = (event) => {
    if (event.buttons !== 1 || !now) return;
    const box = canvas.current.getBoundingClientRect();
    go(((event.clientY - box.top) / box.height) * now.n_leaves);
  };
  return html`<canvas class="minimap" ref=${canvas} aria-hidden="true" title=${words.tree.minimap} onPointerDown=${point} onPointerMove=${point}></canvas>`;
}
