// The picture of the tree pane: branches, names, what is selected, found and pointed at, and the cut.
import { clusterName, focused, found, hinted, hovered, moving, nameOf, question, rowFor, selected } from "./state.js";
import { paintBranches, paintNames, paintTicks, View } from "./draw.js";
import { pageColor } from "./colors.js";

/** What part of the tree is in view. */
export const view = new View();

/** Shade the rows of a branch, from where it begins. */
function shade(ctx, now, v, color) {
  const p = now.parent[v],
    from = p < 0 ? 0 : view.x(now.height[p]),
    a = view.y(now.start[v]),
    b = view.y(now.start[v] + now.size[v]);
  ctx.fillStyle = color;
  ctx.fillRect(from, Math.min(a, b - 2), view.width - from, Math.max(2, b - a));
}

/** Join rows by arcs. */
function arc(ctx, now, rows, color) {
  const d = view.dense,
    x = view.right,
    ys = rows.map((row) => view.y(now.start[row] + 0.5));
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = 2 * d;
  for (let i = 1; i < Math.min(ys.length, 12); i++) {
    const reach = Math.min(140 * d, 24 * d + Math.abs(ys[i] - ys[0]) * 0.4);
    ctx.beginPath();
    ctx.moveTo(x, ys[0]);
    ctx.bezierCurveTo(x - reach, ys[0], x - reach, ys[i], x, ys[i]);
    ctx.stroke();
  }
  for (const y of ys.slice(0, 200)) {
    ctx.beginPath();
    ctx.arc(x, y, 4 * d, 0, 7);
    ctx.fill();
  }
}

/** The height of the cut, null where no straight line separates the groups. */
export function cutHeight(now) {
  return typeof now.cut === "number" ? now.cut : null;
}

export function paint(canvas, now, cutting) {
  const ctx = canvas.getContext("2d", { alpha: false }),
    d = devicePixelRatio || 1;
  Object.assign(view, { width: canvas.width, height: canvas.height, dense: d });
  ctx.fillStyle = pageColor("--paper");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  if (!now) return;
  const accent = pageColor("--accent"),
    tint = pageColor("--tint"),
    seen = hovered.value;
  if (focused.value >= 0) shade(ctx, now, focused.value, tint);
  if (seen?.node >= 0 && seen.node !== focused.value) shade(ctx, now, seen.node, pageColor("--card"));
  if (moving.value) shade(ctx, now, moving.value.node, pageColor("--good-bg"));
  canvas.drawn = paintBranches(ctx, now, view, view.scale >= 5 * d ? Math.max(1, Math.round(1.5 * d)) : 1);
  paintNames(ctx, now, view, pageColor("--ink"), pageColor("--soft"), nameOf, clusterName, selected.value);
  paintTicks(ctx, now, view, found.value.hits, pageColor("--closer"), -5 * d, 4 * d);
  paintTicks(ctx, now, view, selected.value, accent, 13 * d, 3 * d);
  const cut = cutting ?? cutHeight(now);
  if (cut !== null) {
    const x = Math.round(view.x(cut)) + 0.5;
    ctx.strokeStyle = pageColor("--soft");
    ctx.lineWidth = d;
    ctx.setLineDash([6 * d, 5 * d]);
    ctx.beginPath();
    ctx.moveTo(x, 0);
    ctx.lineTo(x, canvas.height);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.fillStyle = pageColor("--soft");
    ctx.beginPath();
    ctx.moveTo(x - 6 * d, 0);
    ctx.lineTo(x + 6 * d, 0);
    ctx.lineTo(x, 9 * d);
    ctx.fill();
  }
  if (seen?.rows && seen.arc) arc(ctx, now, seen.rows, pageColor("--closer"));
  if (hinted.value && question.value)
    arc(
      ctx,
      now,
      question.value.items.map((item) => rowFor(item.id)),
      accent,
    );
}
