// Keys of the page. They act outside text fields only, never while a character is being composed.
import {
  answer,
  conflicts,
  drop,
  focused,
  found,
  hinted,
  lockSelection,
  moving,
  openPanel,
  panel,
  position,
  question,
  redo,
  sayAbout,
  scrub,
  search,
  select,
  selection,
  seq,
  splitBranch,
  status,
  undo,
} from "./state.js";
import { noting, sure } from "./card.js";
import { naming, startMove } from "./actions.js";

const go = (name) =>
  document.querySelector({ t: "#tree", m: "#map", l: "#table", k: "#knowledge", q: ".answers button, .odd" }[name])?.focus();
const trio = () => question.value?.items.length === 3;
let goes = false;

/** key: [what it does, in words; the action] */
export const KEYS = {
  y: ["answer: together", () => !trio() && answer("yes", sure.value)],
  n: ["answer: apart", () => !trio() && answer("no", sure.value)],
  u: ["answer: unsure (also Space)", () => answer("unsure")],
  1: ["of three: the first does not belong", () => trio() && answer("first", sure.value)],
  2: ["of three: the second does not belong", () => trio() && answer("second", sure.value)],
  3: ["of three: the third does not belong", () => trio() && answer("third", sure.value)],
  z: ["undo your last statement", () => undo()],
  Z: ["redo", () => redo()],
  h: [
    "hint: where the items are now",
    () => {
      hinted.value = !hinted.value;
    },
  ],
  c: ["note on your last answer", () => noting.open?.()],
  T: ["selection: together", () => sayAbout("together", "key")],
  A: ["selection: apart", () => sayAbout("apart", "key")],
  C: ["three selected: ① and ② closer than ③", () => sayAbout("triplet", "key")],
  M: ["move the focused branch", () => startMove()],
  S: ["split the focused branch: its parts are groups of their own", () => splitBranch("key")],
  L: ["keep the selected branch whole", () => lockSelection("key")],
  N: ["name the selected branch", () => naming.open?.()],
  w: [
    "why are the two selected together or apart?",
    () => {
      panel.value = null;
      openPanel("why");
    },
  ],
  x: [
    "next contradiction",
    () => {
      if (conflicts.value.length) panel.value = "conflict";
    },
  ],
  "[": ["one step back in the history", () => scrub(Math.max(1, (position.value ?? seq.value) - 1))],
  "]": ["one step forward in the history", () => scrub((position.value ?? seq.value) + 1)],
  e: ["export", () => openPanel("export")],
  "/": ["find items (Enter: next)", () => document.querySelector("#search")?.focus()],
  "?": ["this list", () => openPanel("help")],
  g: [
    "then t, m, l, k, q: go to tree, map, table, knowledge, question",
    () => {
      goes = true;
    },
  ],
  Escape: [
    "close, cancel, clear the selection",
    () => {
      if (moving.value) moving.value = null;
      else if (drop.value) drop.value = null;
      else if (panel.value) panel.value = null;
      else if (found.value.q) search("");
      else if (selection.value.length) select([]);
      else focused.value = -1;
    },
  ],
};
export const TREE_KEYS = [
  ["← → ↑ ↓", "in the tree: walk to parent, child, neighbors"],
  ["Enter", "in the tree: select the branch (Shift adds); in a move: drop"],
  ["+ –", "in the tree: closer, farther"],
  ["f  0", "in the tree: fit the branch, fit all"],
];

export function listenToKeys() {
  addEventListener("keydown", (event) => {
    const at = event.target,
      typing = at.closest?.("input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable]");
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || typing || status.value !== "bench") return;
    if (goes) {
      goes = false;
      if ("tmlkq".includes(event.key)) {
        go(event.key);
        event.preventDefault();
        return;
      }
    }
    let key = event.key;
    if (key === " ") {
      if (at.closest?.("button, a, summary, input, [role=grid]")) return;
      key = "u";
    }
    if (event.repeat && key !== "[" && key !== "]") return;
    if (!KEYS[key]) return;
    event.preventDefault();
    KEYS[key][1]();
  });
}
