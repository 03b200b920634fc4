// The map: every item a point, similar items close to each other. Dragging draws a lasso; shape and letter back up color.
import { html, useEffect, useRef, useState, fitCanvas, perFrame } from "./base.js";
import { clusterOf, dark, hinted, hovered, map, nameOf, question, rowFor, select, selected, tree } from "./state.js";
import { clusterColor, pageColor } from "./colors.js";
import { words } from "./words.js";

const MANY = 4000,
  text = words.map;

function place(points, canvas, zoom) {
  if (!points.box) {
    let [a, b, c, d] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < points.x.length; i++) {
      a = Math.min(a, points.x[i]);
      b = Math.max(b, points.x[i]);
      c = Math.min(c, points.y[i]);
      d = Math.max(d, points.y[i]);
    }
    points.box = [a, b, c, d];
  }
  const [a, b, c, d] = points.box,
    dense = devicePixelRatio || 1,
    edge = 22 * dense;
  const each = Math.min((canvas.width - 2 * edge) / (b - a || 1), (canvas.height - 2 * edge) / (d - c || 1)) * zoom.by;
  return {
    x: (v) => canvas.width / 2 + (v - (a + b) / 2 - zoom.x) * each,
    y: (v) => canvas.height / 2 - (v - (c + d) / 2 - zoom.y) * each,
    each,
  };
}
function shape(ctx, kind, x, y, r) {
  ctx.beginPath();
  if (kind === 0) ctx.arc(x, y, r, 0, 7);
  else if (kind === 1) ctx.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
  else if (kind === 2) {
    ctx.moveTo(x, y - r * 1.15);
    ctx.lineTo(x + r * 1.05, y + r * 0.8);
    ctx.lineTo(x - r * 1.05, y + r * 0.8);
    ctx.closePath();
  } else if (kind === 3) {
    ctx.moveTo(x, y - r * 1.25);
    ctx.lineTo(x + r * 1.25, y);
    ctx.lineTo(x, y + r * 1.25);
    ctx.lineTo(x - r * 1.25, y);
    ctx.closePath();
  } else {
    ctx.moveTo(x, y + r * 1.15);
    ctx.lineTo(x + r * 1.05, y - r * 0.8);
    ctx.lineTo(x - r * 1.05, y - r * 0.8);
    ctx.closePath();
  }
  ctx.fill();
}
function paint(canvas, points, zoom, lasso) {
  const ctx = canvas.getContext("2d", { alpha: false }),
    d = devicePixelRatio || 1,
    paper = pageColor("--paper"),
    ink = pageColor("--ink");
  ctx.fillStyle = paper;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  if (!points) return;
  const at = place(points, canvas, zoom),
    n = points.x.length,
    chosen = selected.value,
    r = (n > MANY ? 1.6 : n > 600 ? 2.6 : 3.6) * d,
    sums = new Map();
  ctx.globalAlpha = chosen.size ? 0.35 : 0.85;
  for (let i = 0; i < n; i++) {
    const c = clusterOf(i),
      x = at.x(points.x[i]),
      y = at.y(points.y[i]);
    if (c >= 0) {
      const s = sums.get(c) || [0, 0, 0];
      s[0] += x;
      s[1] += y;
      s[2]++;
      sums.set(c, s);
    }
    if (x < -9 || y < -9 || x > canvas.width + 9 || y > canvas.height + 9) continue;
    ctx.fillStyle = clusterColor(c);
    if (n > MANY) ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
    else shape(ctx, c < 0 ? 0 : c % 5, x, y, r);
  }
  ctx.globalAlpha = 1;
  for (const row of chosen) {
    if (row >= n) continue;
    ctx.fillStyle = clusterColor(clusterOf(row));
    shape(ctx, Math.max(0, clusterOf(row)) % 5, at.x(points.x[row]), at.y(points.y[row]), r * 1.25);
  }
  ctx.font = `600 ${13 * d}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 4 * d;
  ctx.strokeStyle = paper;
  ctx.fillStyle = ink;
  const taken = []; // numbers of groups, the largest first, where they do not lie on each other
  if (sums.size <= 40)
    for (const [c, [x, y, k]] of [...sums].sort((a, b) => b[1][2] - a[1][2])) {
      if (taken.some(([u, v]) => Math.abs(u - x / k) < 14 * d && Math.abs(v - y / k) < 14 * d)) continue;
      taken.push([x / k, y / k]);
      ctx.strokeText(c + 1, x / k, y / k);
      ctx.fillText(c + 1, x / k, y / k);
    }
  const ring = (rows, color, link) => {
    ctx.strokeStyle = color;
    ctx.lineWidth = 2 * d;
    if (link && rows.length > 1) {
      ctx.beginPath();
      rows.forEach((row, k) => ctx[k ? "lineTo" : "moveTo"](at.x(points.x[row]), at.y(points.y[row])));
      ctx.stroke();
    }
    for (const row of rows) {
      ctx.beginPath();
      ctx.arc(at.x(points.x[row]), at.y(points.y[row]), r + 3 * d, 0, 7);
      ctx.stroke();
    }
  };
  const seen = hovered.value;
  if (seen?.rows?.length && seen.rows.length <= 400)
    ring(seen.rows, seen.arc ? pageColor("--closer") : ink, seen.arc && seen.rows.length <= 3);
  if (hinted.value && question.value)
    ring(
      question.value.items.map((item) => rowFor(item.id)),
      pageColor("--accent"),
      true,
    );
  if (lasso?.length > 1) {
    ctx.strokeStyle = pageColor("--accent");
    ctx.fillStyle = pageColor("--tint");
    ctx.lineWidth = 1.5 * d;
    ctx.beginPath();
    lasso.forEach(([x, y], k) => ctx[k ? "lineTo" : "moveTo"](x, y));
    ctx.closePath();
    ctx.globalAlpha = 0.5;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.stroke();
  }
}
/** Whether a point lies inside a drawn line: count crossings. */
function inside(line, x, y) {
  let found = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [xi, yi] = line[i],
      [xj, yj] = line[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) found = !found;
  }
  return found;
}

export function MapPane() {
  const canvas = useRef(),
    zoom = useRef({ by: 1, x: 0, y: 0 }),
    lasso = useRef(null),
    again = useRef(),
    [tip, setTip] = useState("");
  const points = map.value;
  again.current = () => canvas.current && paint(canvas.current, map.value, zoom.current, lasso.current);
  const redraw = useRef(perFrame(() => canvas.current && again.current())).current;
  useEffect(() => fitCanvas(canvas.current, () => redraw()), []);
  useEffect(redraw, [points, tree.value, selected.value, hovered.value, hinted.value, dark.value]);
  const at = (event) => {
    const box = canvas.current.getBoundingClientRect(),
      d = devicePixelRatio || 1;
    return [(event.clientX - box.left) * d, (event.clientY - box.top) * d];
  };
  const nearest = (px, py) => {
    const to = place(points, canvas.current, zoom.current);
    let best = -1,
      far = (12 * (devicePixelRatio || 1)) ** 2;
    for (let i = 0; i < points.x.length; i++) {
      const s = (to.x(points.x[i]) - px) ** 2 + (to.y(points.y[i]) - py) ** 2;
      if (s < far) {
        far = s;
        best = i;
      }
    }
    return best;
  };
  useEffect(() => {
    const wheel = (event) => {
      if (!map.value) return;
      event.preventDefault();
      const to = place(map.value, canvas.current, zoom.current),
        [px, py] = at(event),
        by = Math.exp(-event.deltaY * 0.002),
        z = zoom.current;
      const next = Math.max(1, Math.min(200, z.by * by)),
        real = next / z.by;
      const dx = (px - canvas.current.width / 2) / to.each,
        dy = (py - canvas.current.height / 2) / to.each;
      zoom.current = next === 1 ? { by: 1, x: 0, y: 0 } : { by: next, x: z.x + dx * (1 - 1 / real), y: z.y - dy * (1 - 1 / real) };
      redraw();
    };
    canvas.current.addEventListener("wheel", wheel, { passive: false });
    return () => canvas.current?.removeEventListener("wheel", wheel);
  }, []);
  const move = (event) => {
    if (!points) return;
    const here = at(event);
    if (lasso.current) {
      lasso.current.push(here);
      redraw();
      return;
    }
    const row = nearest(...here);
    hovered.value = row >= 0 ? { rows: [row], node: row } : null;
    setTip(row >= 0 ? nameOf(row) : "");
  };
  const up = (event) => {
    const line = lasso.current,
      how = event.shiftKey || event.ctrlKey ? "add" : "set";
    lasso.current = null;
    redraw();
    if (!line || !points) return;
    const long = Math.hypot(line[0][0] - at(event)[0], line[0][1] - at(event)[1]) > 6 || line.length > 12;
    if (!long) {
      const row = nearest(...line[0]);
      select(row >= 0 ? [row] : [], row >= 0 && how === "add" ? "toggle" : how);
      return;
    }
    const to = place(points, canvas.current, zoom.current),
      rows = [];
    for (let i = 0; i < points.x.length; i++) if (inside(line, to.x(points.x[i]), to.y(points.y[i]))) rows.push(i);
    select(rows, how);
  };
  return html`<section class="pane map-pane" aria-label=${words.panes.map}>
    <header><h2>${words.panes.map}</h2><span class="soft tip" dir="auto">${tip}</span><span class="grow"></span>
      <button class="mini" onClick=${() => {
        zoom.current = { by: 1, x: 0, y: 0 };
        redraw();
      }}>${text.fit}</button></header>
    <div class="host" id="map" tabindex="-1">
      <canvas role="img" aria-label=${text.label} ref=${canvas} onPointerDown=${(e) => {
        if (e.button === 0) {
          lasso.current = [at(e)];
          canvas.current.setPointerCapture(e.pointerId);
        }
      }} onPointerMove=${move} onPointerUp=${up} onPointerLeave=${() => {
        hovered.value = null;
        setTip("");
      }}></canvas>
    ${!points && html`<p class="empty">${text.empty}</p>`}</div></section>`;
}
