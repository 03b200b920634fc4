// The actions of the page: read what the server knows, say statements, and keep the signals true. Views call them.
import { batch } from "./base.js";
import { indexTree, branchAround, rowsBelow } from "./arrays.js";
import { complain, tell } from "./notices.js";
import {
  asking, branchNames, conflicts, engine, focused, hinted, itemNames, map, marks, movedBy, moving, namesOf, panel,
  people, position, preview, progress, project, projectKey, question, rowOf, selection, seq, spoken, stale, startPage,
  statements, status, tableVersion, tree, verdict, who,
} from "./signals.js";
import { statementWords, words } from "./words.js";
import * as wire from "./transport.js";

// views import all of the state from here
export * from "./signals.js";
export * from "./notices.js";
export * from "./selecting.js";
export * from "./theme.js";

// ---------------------------------------------------------------- reading

export async function begin() {
  try {
    await wire.signIn();
    await refresh(true);
  } catch (problem) {
    if (problem instanceof wire.Refused && [401, 403].includes(problem.status)) {
      status.value = "out";
      return;
    }
    throw problem;
  }
  wire.listen(heard);
  if (status.value === "bench") catchUp(); // with what came after the first reading and before listening
}

/** Read the log and the question once more, after a time without events. */
function catchUp() {
  refresh().catch(complain);
  readQuestion();
}

let reading = null,
  again = false;
/** Read what is new in the log; calls that come meanwhile become one more reading. */
export async function refresh(whole = false) {
  if (reading) {
    again = true;
    return reading;
  }
  reading = (async () => {
    try {
      do {
        again = false;
        await readState(whole);
        whole = false;
      } while (again);
    } finally {
      reading = null;
    }
  })();
  return reading;
}

let offered = ""; // the table named in the terminal: its import is shown once, so that Back leads to the start page
async function readState(whole) {
  const told = await wire.get("state", { since: whole ? 0 : seq.value });
  if (!told.project) {
    batch(() => {
      project.value = null;
      question.value = null;
      selection.value = [];
      statements.value = [];
      seq.value = 0;
      position.value = null;
      startPage.value = told;
      engine.value = told.engine || {};
      if (told.preview && told.preview.upload !== offered && ["loading", "start"].includes(status.value)) {
        offered = told.preview.upload;
        preview.value = told.preview;
        status.value = "import";
      } else if (status.value !== "import") status.value = "start";
    });
    return;
  }
  const other = project.value?.key !== told.project.key || status.value !== "bench";
  batch(() => {
    project.value = told.project;
    who.value = told.who;
    people.value = told.people || [];
    const old = whole ? [] : statements.value,
      last = old.length ? old.at(-1).seq : 0;
    statements.value = [...old, ...told.statements.filter((one) => one.seq > last)];
    marks.value = told.marks || {};
    seq.value = told.seq;
    progress.value = told.progress || {};
    verdict.value = told.verdict || {};
    engine.value = told.engine || {};
    movedBy.value = {
      ...(whole ? {} : movedBy.value),
      ...Object.fromEntries(
        told.statements
          .filter((one) => one.moved !== null && one.moved !== undefined && one.op !== "open")
          .map((one) => [one.seq, one.moved]),
      ),
    };
    branchNames.value = told.names || [];
    conflicts.value = told.conflicts || [];
    status.value = "bench";
  });
  document.title = `${told.project.name} – linkwise`;
  if (other) {
    itemNames.value = [];
    tree.value = null;
    map.value = null;
    readNames();
    readTree();
    readMap();
    readQuestion();
    wire.resume(projectKey());
  }
}
async function readNames() {
  try {
    itemNames.value = (await wire.get("names")).names;
    rowOf.clear();
    itemNames.value.forEach((name, row) => rowOf.set(name, row));
  } catch (problem) {
    complain(problem);
  }
}
let treeStop = null;
/** Read the tree of now, or of a position in the history. */
export async function readTree(at = position.value) {
  treeStop?.abort();
  treeStop = new AbortController();
  try {
    const made = await wire.arrays("tree", { at }, treeStop.signal);
    if (!made) return;
    const now = indexTree(made),
      before = tree.value,
      keptRow = before && focused.value >= 0 ? rowsBelow(before, focused.value)[0] : -1;
    const size = before && focused.value >= 0 ? before.size[focused.value] : 1;
    batch(() => {
      tree.value = now;
      stale.value = false;
      tableVersion.value++;
      focused.value = keptRow >= 0 ? branchAround(now, keptRow, size) : -1;
      moving.value = null;
    });
  } catch (problem) {
    complain(problem);
  }
}
async function readMap() {
  try {
    const made = await wire.arrays("map");
    if (made) map.value = made;
  } catch (problem) {
    complain(problem);
  }
}
let asks = 0; // readings of the question: the one begun last counts, in whatever order replies come
export async function readQuestion() {
  const mine = ++asks;
  try {
    const told = await wire.get("question");
    if (mine === asks) takeQuestion(told);
  } catch (problem) {
    complain(problem);
  }
}
function takeQuestion(told, saved = "") {
  const next = told && "question" in told ? told.question : told;
  if (next && next.id && next.id === question.value?.id && asking.value === "ready") return;
  if (next?.id)
    spoken.value = [
      saved,
      words.said.asked(
        next.number,
        next.items.length === 3,
        next.items.map((item) => item.id),
      ),
    ]
      .filter(Boolean)
      .join(" ");
  batch(() => {
    hinted.value = false;
    question.value = next && next.id ? next : null;
    asking.value = next && next.id ? "ready" : told?.state === "done" ? "none" : "waiting";
  });
}

/** Close the project; the start page follows, in all tabs. */
export async function leave() {
  if (wire.unsaved.value) {
    tell(words.quit.unsaved(wire.unsaved.value), "bad");
    return;
  }
  try {
    await wire.post("leave", {});
    panel.value = null;
    status.value = "loading";
    await refresh(true);
  } catch (problem) {
    complain(problem);
  }
}
/** End linkwise: the server, its engines, and this page. What is not saved yet goes first. */
export async function quit() {
  if (wire.unsaved.value) {
    tell(words.quit.unsaved(wire.unsaved.value), "bad");
    return;
  }
  try {
    await wire.post("quit", {});
    status.value = "ended";
  } catch (problem) {
    complain(problem);
  }
}

function heard(name, told) {
  if (status.value === "ended") return;
  if (name === "work" || name === "engine") {
    engine.value = { ...engine.value, ...told };
    if (told.state === "busy") stale.value = Boolean(tree.value);
    if (name === "engine" && told.message)
      tell([told.message, told.hint].filter(Boolean).join(" "), told.state === "down" ? "bad" : "plain");
  }
  if (name === "project") {
    refresh(true).catch(complain);
    return;
  }
  if (status.value !== "bench") {
    if (name === "reconnected" && status.value === "start") refresh(true).catch(complain);
    return;
  }
  if (name === "said") refresh().catch(complain);
  if (name === "reconnected") catchUp();
  if (name === "tree") {
    refresh().catch(complain);
    if (position.value === null) readTree();
    if (told.seq > 1 && told.moved !== undefined) movedBy.value = { ...movedBy.value, [told.seq]: told.moved };
    if (told.moved) spoken.value = words.said.moved(told.moved);
  }
  if (name === "map" || (name === "tree" && !map.value)) readMap();
  if (name === "question") readQuestion();
}

// ---------------------------------------------------------------- saying

/** Say a statement; the reply brings the next question. A contradiction shows in the bar and opens nothing by itself. */
export async function say(op, body, via = "menu") {
  if (project.value?.readonly) {
    tell(words.top.readonly, "bad");
    return null;
  }
  try {
    const reply = await wire.say({ op, body, via, basis: seq.value }, projectKey());
    refresh().catch(complain);
    return reply;
  } catch (problem) {
    if (problem.status === 409 && problem.told.question !== undefined) {
      readQuestion(); // the next one may have come before this refusal did
      tell(words.card.stale);
    } else complain(problem);
    return null;
  }
}

/** Tell the person that a statement is saved, and whether it contradicts others as far as that is known by now. */
export const confirm = (reply, one) =>
  reply && tell([words.said.answered(statementWords(one)), reply.conflict && words.said.contradicts].filter(Boolean).join(" "));

/** Answer the question on the card; the card is locked until the answer is on disk. */
export async function answer(word, confidence = 1) {
  const asked = question.value;
  if (!asked || asking.value !== "ready") return;
  if (position.value !== null) {
    tell(words.card.past);
    return;
  }
  asking.value = "saving";
  const body = { items: asked.items.map((item) => item.id), answer: word, confidence, question: asked.id };
  const reply = await say("answer", body, "question");
  if (!reply) {
    if (asking.value === "saving") {
      asking.value = "waiting";
      readQuestion();
    }
    return;
  }
  const saved = words.said.answered(statementWords({ op: "answer", body }));
  spoken.value = saved;
  if (reply.next) takeQuestion(reply.next, saved);
  else {
    asking.value = "waiting";
    question.value = null;
    readQuestion();
  }
}

/** The newest standing statement of this person, which `z` undoes; with redo, the newest of their undos. */
export function lastMine(redo = false) {
  return statements.value.findLast(
    (one) => one.who === who.value && one.op !== "open" && (one.op === "undo") === redo && marks.value[one.seq] !== "undone",
  );
}
export async function undo(target, via = "key") {
  const aimed = target ?? lastMine()?.seq;
  if (!aimed) {
    tell(words.said.nothing);
    return;
  }
  const reply = await say("undo", { target: aimed }, via);
  if (reply) {
    tell(words.said.undone(aimed));
    readQuestion();
  }
}
export const redo = () => {
  const last = lastMine(true);
  if (last) undo(last.seq);
  else tell(words.said.nothing);
};
/** The standing undo that switches a statement off: undoing it brings the statement back. */
export const undoOf = (number) =>
  statements.value.findLast((one) => one.op === "undo" && one.body.target === number && marks.value[one.seq] !== "undone");

export function sayAbout(kind, via = "menu") {
  const rows = selection.value,
    items = namesOf(rows);
  if (kind === "triplet" && rows.length !== 3) {
    tell(words.select.closerHint);
    return;
  }
  if (rows.length < 2) {
    tell(words.select.none);
    return;
  }
  const made = kind === "triplet" ? kind : rows.length === 2 ? { together: "must_link", apart: "cannot_link" }[kind] : kind;
  const body = { kind: made, items };
  say("say", body, via).then((reply) => confirm(reply, { op: "say", body }));
}
/** Read statements, or the answers of `linkwise ask`, from a file into the project. */
export async function readStatements(file) {
  if (project.value?.readonly) {
    tell(words.top.readonly, "bad");
    return;
  }
  try {
    const told = await wire.readIn(file.name, file);
    tell(words.knowledge.wasRead(told.name, told.statements));
    await refresh();
  } catch (problem) {
    complain(problem);
  }
}
/** The children of the focused branch are groups of their own. */
export function splitBranch(via = "menu") {
  const now = tree.value,
    v = focused.value,
    parts = [];
  if (!now || v < 0 || now.first[v] < 0) {
    tell(words.select.splitHint);
    return;
  }
  for (let c = now.first[v]; c >= 0; c = now.next[c]) parts.push(namesOf(rowsBelow(now, c)));
  const body = { parts };
  say("split", body, via).then((reply) => confirm(reply, { op: "split", body }));
}
export const lockSelection = (via) => selection.value.length > 1 && say("lock", { items: namesOf(selection.value) }, via);
export const nameSelection = (text, via) => text && say("name", { items: namesOf(selection.value), text }, via);

export const openPanel = (name) => {
  panel.value = panel.value === name ? null : name;
};
export async function scrub(to) {
  position.value = to === null || to >= seq.value ? null : to;
  await readTree();
}
