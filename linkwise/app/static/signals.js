// What the page knows, as signals: views read them, and the functions of state.js and selecting.js change them.
import { computed, signal } from "./base.js";
import { words } from "./words.js";

/** Which screen is shown: loading, out, start, import, bench or ended. */
export const status = signal("loading");
export const startPage = signal({});
export const preview = signal(null); // the table that is about to be imported
export const engine = signal({});

// the project that is open, as the server told it
export const project = signal(null);
export const who = signal("");
export const people = signal([]);
export const statements = signal([]);
export const marks = signal({}); // by row of the log: holds, broken, doubted, undone, waiting
export const seq = signal(0); // the newest row of the log
export const progress = signal({});
export const verdict = signal({});
export const conflicts = signal([]);
export const movedBy = signal({}); // how many items a statement moved, by its row, as far as this page was told

// the question on the card
export const question = signal(null);
export const asking = signal("waiting"); // waiting, ready, saving, none
export const hinted = signal(false);

// the tree and the map
export const tree = signal(null);
export const map = signal(null);
export const itemNames = signal([]);
export const branchNames = signal([]);
export const stale = signal(false); // a newer tree is being made
export const tableVersion = signal(0);

// what the person points at
export const selection = signal([]); // rows, in the order of choice
export const selected = computed(() => new Set(selection.value));
export const hovered = signal(null); // {rows, node} under the pointer
export const focused = signal(-1); // a node of the tree
export const moving = signal(null); // the branch in hand
export const drop = signal(null); // the bubble that is open
export const found = signal({ q: "", hits: [], total: 0, at: 0 });

// the page itself
export const panel = signal(null); // the drawer that is open
export const position = signal(null); // where the scrubber of the history stands, null = now
export const notice = signal(null);
export const spoken = signal(""); // what a screen reader reads out
/** Widths of the window in points: a narrower one has questions only, or one pane at a time. */
export const PHONE = 640;
export const PANES = 1100;
export const wideness = signal(innerWidth);
addEventListener("resize", () => {
  wideness.value = innerWidth;
});

/** What tells this project from others of the same name: statements that wait in this browser belong to one of them. */
export const projectKey = () => project.value.key ?? project.value.name;

/** Rows of items by name. */
export const rowOf = new Map();
export const nameOf = (row) => itemNames.value[row] ?? `#${row}`;
export const rowFor = (name) => rowOf.get(name);
export const namesOf = (rows) => Array.from(rows, nameOf);
export const clusterOf = (row) => (tree.value ? tree.value.cluster[row] : -1);
/** What a group is called: the name people gave it, or its number. */
export function clusterName(c) {
  const named = branchNames.value.find((one) => one.cluster === c);
  return named ? named.text : words.cluster(c);
}
