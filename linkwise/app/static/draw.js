// A tree of any size on one canvas: root left, leaves down. Level of detail keeps rectangles per frame near the pixel count:
// a branch thinner than a pixel is one bar; per row it is remembered how far left was painted, per column which rows.
import { clusterColor, NO_CLUSTER } from "./colors.js";

export const NAME_FROM = 9; // pixels per leaf from which on names can be read
const STRIP = 7;

/** Where things are: `top` = first leaf in view (a fraction), `scale` = pixels per leaf; both in canvas pixels. */
export class View {
  constructor() {
    this.top = 0;
    this.scale = 1;
    this.width = 1;
    this.height = 1;
    this.dense = 1;
  }
  fit(tree, start = 0, size = tree.n_leaves) {
    const room = Math.min(2, Math.max(0.5, size * 0.04));
    this.scale = Math.min(this.height / (size + 2 * room), 40 * this.dense);
    this.top = start + size / 2 - this.height / this.scale / 2;
    this.clamp(tree);
  }
  least(tree) {
    return Math.min(this.height / (tree.n_leaves + 1), 40 * this.dense);
  }
  clamp(tree) {
    this.scale = Math.max(this.least(tree), Math.min(this.scale, 60 * this.dense));
    const seen = this.height / this.scale;
    this.top = seen >= tree.n_leaves + 1 ? (tree.n_leaves - seen) / 2 : Math.max(-0.5, Math.min(this.top, tree.n_leaves + 0.5 - seen));
  }
  zoom(tree, factor, at) {
    const leaf = this.top + at / this.scale;
    this.scale *= factor;
    this.clamp(tree);
    this.top = leaf - at / this.scale;
    this.clamp(tree);
  }
  get named() {
    return this.scale >= NAME_FROM * this.dense;
  }
  get right() {
    return this.width - Math.min(this.width * 0.34, 170 * this.dense);
  }
  get left() {
    return 12 * this.dense;
  }
  x(height) {
    return this.right - height * (this.right - this.left);
  }
  heightAt(px) {
    return (this.right - px) / (this.right - this.left);
  }
  y(position) {
    return (position - this.top) * this.scale;
  }
}

/** Paint branches; returns how many nodes were visited and how many rectangles drawn. */
export function paintBranches(ctx, tree, view, thick = 1) {
  const { first, next, start, size, height, y, cluster, stack } = tree,
    { top, scale } = view;
  const W = Math.ceil(view.width),
    H = Math.ceil(view.height),
    right = view.right;
  const painted = new Int16Array(H + 2).fill(32767),
    above = new Int16Array(W + 2).fill(32767),
    below = new Int16Array(W + 2).fill(-1);
  const rects = new Map();
  let depth = 0,
    visited = 0,
    drawn = 0;
  const rect = (c, x, yy, w, h) => {
    let list = rects.get(c);
    if (!list) rects.set(c, (list = []));
    list.push(x, yy, w, h);
    drawn++;
  };
  const bar = (c, at, xv) => {
    // a branch thinner than a pixel: one bar for all of it
    const row = Math.max(0, Math.min(H, Math.floor(at))),
      x = Math.floor(xv);
    if (x < painted[row]) {
      rect(c, x, row, Math.min(painted[row], right) - x, 1);
      painted[row] = x;
    }
  };
  for (const r of tree.roots) stack[depth++] = r;
  while (depth) {
    const v = stack[--depth];
    visited++;
    const upper = (start[v] - top) * scale,
      lower = upper + size[v] * scale;
    if (lower < 0 || upper > H) continue;
    const xv = view.x(height[v]),
      column = Math.max(0, Math.min(W, Math.floor(xv)));
    if (size[v] * scale < 1) {
      bar(cluster[v], (upper + lower) / 2, xv);
      continue;
    }
    let low = Infinity,
      high = -Infinity;
    for (let c = first[v]; c >= 0; c = next[c]) {
      const yc = (y[c] - top) * scale;
      if (yc < low) low = yc;
      if (yc > high) high = yc;
      if (size[c] * scale < 1) {
        // painted here and not pushed: half the visits of a chain
        if (yc >= 0 && yc <= H) bar(cluster[c], yc, xv);
        continue;
      }
      const xc = Math.floor(view.x(height[c]));
      if (yc >= 0 && yc <= H && xc > column) rect(cluster[c], column, Math.floor(yc - (thick - 1) / 2), xc - column + thick, thick);
      if (first[c] >= 0) stack[depth++] = c;
    }
    const a = Math.max(0, Math.floor(low)),
      b = Math.min(H, Math.floor(high));
    if (b > a && (a < above[column] || b > below[column])) {
      // of many bars in one column only what is new
      rect(cluster[v], column, Math.floor(a - (thick - 1) / 2), thick, b - a + thick);
      if (a <= below[column] + 1 && b >= above[column] - 1) {
        above[column] = Math.min(a, above[column]);
        below[column] = Math.max(b, below[column]);
      } else if (b - a > below[column] - above[column]) {
        above[column] = a;
        below[column] = b;
      }
    }
  }
  for (const [c, list] of rects) {
    ctx.fillStyle = c < 0 ? NO_CLUSTER : clusterColor(c);
    for (let i = 0; i < list.length; i += 4) ctx.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
  }
  return { visited, drawn };
}

/** Runs of the same group along the leaves, as [cluster, first position, past the last]. */
export function clusterRuns(tree) {
  if (tree.runs) return tree.runs;
  const runs = [];
  for (let at = 0; at < tree.n_leaves; at++) {
    const c = tree.cluster[tree.leafAt[at]];
    if (runs.length && runs.at(-1)[0] === c) runs.at(-1)[2] = at + 1;
    else runs.push([c, at, at + 1]);
  }
  return (tree.runs = runs);
}

/** The strip of groups, and their names or the names of items: as many as fit without overlap, largest first. */
export function paintNames(ctx, tree, view, ink, soft, nameOf, clusterName, chosen) {
  const d = view.dense,
    x = view.right + 4 * d,
    wide = STRIP * d,
    H = view.height;
  for (const [c, from, to] of clusterRuns(tree)) {
    const a = Math.max(0, view.y(from)),
      b = Math.min(H, view.y(to));
    if (b < 0 || a > H || c < 0) continue;
    ctx.fillStyle = clusterColor(c);
    ctx.fillRect(x, Math.floor(a), wide, Math.max(1, Math.ceil(b - a) - (b - a > 4 ? 1 : 0)));
  }
  ctx.textBaseline = "middle";
  const textX = x + wide + 7 * d,
    room = view.width - textX - 4 * d;
  const fitText = (text) => {
    if (ctx.measureText(text).width <= room) return text;
    let end = Math.max(1, Math.floor((text.length * room) / ctx.measureText(text).width));
    while (end > 1 && ctx.measureText(`${text.slice(0, end)}…`).width > room) end--;
    return `${text.slice(0, end)}…`;
  };
  if (view.named) {
    const letters = Math.min(13 * d, view.scale * 0.92);
    const from = Math.max(0, Math.floor(view.top)),
      to = Math.min(tree.n_leaves, Math.ceil(view.top + H / view.scale));
    for (let at = from; at < to; at++) {
      const row = tree.leafAt[at];
      ctx.font = `${chosen.has(row) ? "600 " : ""}${letters}px system-ui, sans-serif`;
      ctx.fillStyle = ink;
      ctx.fillText(fitText(nameOf(row)), textX, view.y(at + 0.5));
    }
    return;
  }
  ctx.font = `${12 * d}px system-ui, sans-serif`;
  const taken = [];
  for (const [c, from, to] of [...clusterRuns(tree)].sort((p, q) => q[2] - q[1] - (p[2] - p[1])).slice(0, 200)) {
    const at = (Math.max(0, view.y(from)) + Math.min(H, view.y(to))) / 2;
    if (c < 0 || view.y(to) < 0 || view.y(from) > H || taken.some((other) => Math.abs(other - at) < 16 * d)) continue;
    taken.push(at);
    ctx.fillStyle = soft;
    ctx.fillText(fitText(`${clusterName(c)} (${(to - from).toLocaleString("en-US")})`), textX, Math.max(8 * d, Math.min(H - 8 * d, at)));
  }
}

/** Ticks beside the leaves of some rows; thousands of rows in one pixel are one tick. */
export function paintTicks(ctx, tree, view, rows, color, offset, wide) {
  const last = new Set();
  ctx.fillStyle = color;
  for (const row of rows) {
    const y0 = Math.floor(view.y(tree.start[row]));
    if (y0 < -view.scale || y0 > view.height || last.has(y0)) continue;
    last.add(y0);
    ctx.fillRect(view.right + offset, y0, wide, Math.max(2, Math.ceil(view.scale) - (view.scale > 4 ? 1 : 0)));
  }
}

/** The branch at a point of the canvas: the leaf on that line, then up to the height. */
export function pick(tree, view, px, py) {
  const slot = Math.floor(view.top + py / view.scale);
  if (slot < 0 || slot >= tree.n_leaves) return -1;
  let v = tree.leafAt[slot];
  const want = view.heightAt(px);
  while (tree.parent[v] >= 0 && tree.height[tree.parent[v]] <= want) v = tree.parent[v];
  if (tree.parent[v] >= 0 && tree.height[v] < want && want > 0.01 && tree.first[v] < 0 && !view.named) v = tree.parent[v];
  return v;
}
