// Selecting and finding items: rows in the order of choice, shared by tree, map and table.
import { computed } from "./base.js";
import { complain } from "./notices.js";
import { focused, found, itemNames, marks, rowFor, selection, spoken, statements } from "./signals.js";
import { get } from "./transport.js";
import { words } from "./words.js";

/** Select rows: alone ("set"), beside those selected ("add"), or out again if all of them are selected ("toggle"). */
export function select(rows, how = "set") {
  const now = how === "set" ? new Set() : new Set(selection.value);
  const all = Array.from(rows);
  if (how === "toggle" && all.every((row) => now.has(row))) all.forEach((row) => now.delete(row));
  else all.forEach((row) => now.add(row));
  selection.value = [...now];
  spoken.value = words.said.selected(now.size);
}
/** The rows that a statement names. */
export const rowsOfStatement = (one) => {
  const b = one.body || {},
    named = b.items || (b.parts ? b.parts.flat() : b.A ? [...b.A, ...b.B] : []);
  return named.map(rowFor).filter((row) => row !== undefined);
};
/** How many standing statements name items below a node, as far as they name items one by one. */
export const saidCount = computed(() => {
  const counts = new Map();
  if (!itemNames.value.length) return counts;
  for (const one of statements.value)
    if (marks.value[one.seq] !== "undone" && one.op !== "open")
      for (const row of rowsOfStatement(one)) counts.set(row, (counts.get(row) || 0) + 1);
  return counts;
});

let searchStop = null;
/** Find items; the branch of the first hit gets the focus. */
export async function search(q) {
  searchStop?.abort();
  searchStop = new AbortController();
  if (!q.trim()) {
    found.value = { q: "", hits: [], total: 0, at: 0 };
    return;
  }
  try {
    const told = await get("search", { q }, searchStop.signal);
    found.value = { q, hits: told.hits, total: told.total, at: 0 };
    if (told.hits.length) focused.value = told.hits[0];
    spoken.value = words.tree.hits(told.hits.length ? 1 : 0, told.total);
  } catch (problem) {
    complain(problem);
  }
}
/** Go to the next hit, or back. */
export function nextHit(step = 1) {
  const { hits, at } = found.value;
  if (!hits.length) return;
  const to = (at + step + hits.length) % hits.length;
  found.value = { ...found.value, at: to };
  focused.value = hits[to];
}
