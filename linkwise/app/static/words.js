// Every text of the page, so that it can be read in one place and translated.
import { count, many } from "./base.js";

const MOST = 34;
/** A name short enough for a line. */
export const short = (name, most = MOST) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
/** "Orval, Chimay and 3 more". */
export function list(names, most = 3) {
  const shown = names.slice(0, most).map((name) => short(name)),
    left = names.length - shown.length;
  if (left > 0) return `${shown.join(", ")} and ${count(left)} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown[0] || "";
}

const SAYS = {
  must_link: ([a, b]) => `${short(a)} and ${short(b)} belong together`,
  cannot_link: ([a, b]) => `${short(a)} and ${short(b)} are apart`,
  triplet: ([a, b, c]) => `${short(a)} and ${short(b)} are closer than ${short(c)}`,
  together: (items) => `${list(items)} are one group`,
  apart: (items) => `${list(items)} are all apart`,
};
const READS = {
  branch: (a, b) => `${a} hangs right beside ${b}`,
  group: (a, b) => `${a} and ${b} are one group`,
  away: (a, b, s) => `${a} is closer to ${b} than to ${s}`,
  apart: (a, b, s) => `${a} is not with ${s}`,
};
export const branchWords = (items) =>
  items.length === 1 ? short(items[0]) : `the branch of ${count(items.length)} around ${short(items[0])}`;
/** A sentence that may begin with "the branch ..."; names of items stay as they are. */
const capital = (sentence) => sentence.replace(/^the branch of /, "The branch of ");
const ODD = { first: 0, second: 1, third: 2 };

const OPS = {
  open: () => "Project opened",
  answer({ items, answer, confidence }) {
    const doubt = confidence < 1 && answer !== "unsure" ? ` (probably, ${Math.round(confidence * 100)} %)` : "";
    if (answer === "unsure") return `Unsure about ${list(items)}`;
    if (items.length === 2) return (answer === "yes" ? SAYS.must_link(items) : SAYS.cannot_link(items)) + doubt;
    const odd = ODD[answer],
      rest = items.filter((_, at) => at !== odd);
    return SAYS.triplet([...rest, items[odd]]) + doubt;
  },
  say: ({ kind, items, weight }) => SAYS[kind](items) + (weight === null || weight === undefined ? "" : " (preferred, not certain)"),
  move: ({ reading, A, B, S }) => capital(READS[reading](branchWords(A), branchWords(B), branchWords(S || []))),
  split: ({ parts }) => `${many(parts.length, "group")}: ${parts.map((part) => branchWords(part)).join(" | ")}`,
  lock: ({ items }) => `Keep whole: ${list(items)}`,
  name: ({ items, text }) => `The branch of ${many(items.length, "item")} is called “${short(text)}”`,
  note: ({ text, seq, items }) => `Note on ${seq ? `#${seq}` : list(items || [])}: ${short(text, 80)}`,
  flag: ({ text, seq, items }) => `Flag on ${seq ? `#${seq}` : list(items || [])}: ${short(text, 80)}`,
  cut: ({ k, height }) =>
    k
      ? `Cut into ${many(k, "group")}`
      : height
        ? `Cut at height ${Number(height).toPrecision(3)}`
        : "The answers decide the number of groups",
  import: ({ name, statements, n }) => `${short(name)}: ${many(statements ? statements.length : n || 0, "statement")} read in`,
  repair: ({ targets }) =>
    targets
      .map((t) => ({ drop: `#${t.seq} dropped`, soften: `#${t.seq} kept as a preference`, flip: `#${t.seq} turned around` })[t.action])
      .join(", "),
  people: ({ name, active }) => `${name} ${active ? "may answer" : "no longer answers"}`,
  undo: ({ target }) => `#${target} undone`,
};
/** One statement of the log as a sentence. */
export const statementWords = (one) => (OPS[one.op] ? OPS[one.op](one.body || {}) : one.op);
export const readingWords = (reading, a, b, s) => capital(READS[reading](a, b, s));

export const words = {
  name: "linkwise",
  loading: "Opening the workbench …",
  theme: "Light or dark",
  help: "Help and keys",
  quit: {
    button: "Quit",
    title: "End linkwise on this computer; everything said is saved",
    ended: "linkwise has ended.",
    endedHint: "Everything you said is saved. Start linkwise again to go on; this tab can be closed.",
    unsaved: (n) => `${many(n, "statement")} not saved yet. Wait until everything is saved, then try again.`,
  },
  signedOut: "This page has lost its key.",
  signedOutHint:
    "Every start of linkwise prints a link of its own that works once. Open the link from the terminal, or start linkwise again.",
  start: {
    title: "Open something",
    lead: "Group your items by what you know about them. Everything stays on this computer.",
    drop: "Drop a table, a zip of images or a project (.lw) here",
    choose: "Choose a file",
    paste: "Paste a table",
    or: "or",
    pasteTitle: "Paste rows from a spreadsheet",
    pasteHint: "The first row holds the names of the columns.",
    pasteGo: "Read it",
    recent: "Recent projects",
    noRecent: "Projects you open are listed here, on this computer only.",
    clear: "Clear the list",
    tryOut: "Try it with",
    reading: "Reading the file …",
    readingFile: (name) => `Reading ${short(name)} …`,
    items: (n) => many(n, "item"),
    answers: (n) => many(n, "answer"),
    preparing: (share) =>
      `Preparing the engine${share ? `: ${Math.round(share * 100)} %.` : " …"} You can go on meanwhile; it takes long the first time only.`,
  },
  roles: {
    name: "name",
    number: "number",
    category: "category",
    text: "text",
    picture: "picture",
    know: "known group",
    show: "show only",
    ignore: "ignore",
  },
  roleHelp: {
    name: "what an item is called",
    number: "compared as a number",
    category: "compared as equal or not",
    text: "compared by its words",
    picture: "file name of an image",
    know: "knowledge: same value, same group",
    show: "shown on cards, not compared",
    ignore: "left out",
  },
  import: {
    back: "Back",
    open: "Open",
    title: "How should the columns be read?",
    role: "Role of",
    willDo: "What will happen",
    written: "Does something look wrong? How the file is written",
    rows: (n) => many(n, "row"),
    columns: (n) => many(n, "column"),
    knowTitle: "How sure is the known grouping?",
    first: (n) => `The first ${many(n, "row")}`,
    working: "Opening …",
  },
  panes: { tree: "Tree", map: "Map", table: "Table", question: "Question", knowledge: "Knowledge" },
  hide: "Hide",
  show: "Show",
  close: "Close",
  buttons: { history: "History", compare: "Compare", export: "Export", people: "People", home: "All projects" },
  top: {
    said: (n) => `${count(n)} said`,
    settled: (n) => `${many(n, "pair")} settled`,
    hold: "everything holds",
    holdShort: "all holds",
    nothing: "nothing said yet",
    nothingShort: "new",
    waiting: "checking …",
    broken: (n) => `${many(n, "preference")} not met`,
    doubted: (n) => `${many(n, "statement")} in doubt`,
    conflict: "a contradiction to settle",
    conflictShort: "contradiction",
    unsaved: (n) => `${count(n)} not saved yet`,
    offline: "linkwise does not answer; it may have been stopped",
    readonly: "view only: the file cannot be written",
    notSavedHint: "Your statements are kept in this browser and sent again.",
  },
  tree: {
    search: "Find items",
    groups: "groups",
    fit: "Whole tree",
    zoomIn: "Closer",
    zoomOut: "Farther",
    updating: "updating …",
    empty: "The tree appears when the engine has read the items.",
    leaf: (name, said) => `${name}${said ? `, ${many(said, "statement")}` : ""}`,
    branch: (n, name, height, said) =>
      `Branch of ${many(n, "item")}${name ? `, ${name}` : ""}, height ${height.toFixed(2)}${said ? `, ${many(said, "statement")}` : ""}`,
    label: "Tree of all items. Arrows walk, Enter selects, M moves.",
    cut: "Drag to change the number of groups",
    hits: (at, n) => (n ? `${count(at)} of ${count(n)}` : "not found"),
    minimap: "Overview of the tree",
    oldTree: (seq) => `The tree as it was after #${seq}`,
    backToNow: "Back to now",
  },
  map: {
    label: "Map: similar items lie close to each other. Drag around items to select them.",
    empty: "The map follows the tree.",
    fit: "Whole map",
  },
  table: {
    filter: "Filter",
    label: "Items",
    selected: (n) => `${count(n)} selected`,
    cluster: "group",
    said: "said",
    item: "item",
    text: "text",
    none: "No item matches.",
  },
  select: {
    none: "Click an item or a branch to select it; with Ctrl or ⌘ to add one. Drag a branch onto another to move it.",
    together: "Together",
    apart: "Apart",
    closer: "Closer",
    why: "Why?",
    move: "Move",
    lock: "Keep whole",
    name: "Name",
    split: "Split",
    moveHint: "Click a branch of the tree, or walk to it; then say where it belongs. Or drag it there.",
    splitHint: "Click a branch of the tree, or walk to it, to say that its parts are groups of their own.",
    closerHint: "① and ② are closer to each other than to ③",
    namePrompt: "Name of this branch",
  },
  card: {
    pair: "Do these belong together?",
    trio: "Which one does not belong?",
    number: (n) => `Question ${count(n)}`,
    yes: "Together",
    no: "Apart",
    unsure: "Unsure",
    unsureTrio: "Unsure or all alike",
    undo: "Undo",
    hint: "Hint",
    hideHint: "Hide hint",
    note: "Note",
    send: "Keep note",
    notePrompt: "A note on your last answer",
    probably: "I am only fairly sure",
    saved: "Saved. The next question is coming …",
    none: "Nothing left to ask",
    noneHint: "Look at the tree, correct it by hand, or export.",
    preparing: "Thinking about the first question …",
    differs: "difference",
    value: "value",
    same: "the same in both",
    more: (n) => `${many(n, "more value")}`,
    whyAsked: "Why this question",
    past: "You are looking at an earlier tree. Go back to now to answer.",
    stale: "That question was already settled; here is the next one.",
    letters: "Show all",
    fewer: "Show less",
    inGroup: (c) => `in ${c}`,
    progress({ answers, settled, stable, more }) {
      const parts = [many(answers || 0, "answer")];
      if (settled) parts.push(`${many(settled, "pair")} settled`);
      if (stable !== null && stable !== undefined) parts.push(`about ${Math.round(stable * 100)} % of the result is probably right`);
      if (more) parts.push(`about ${count(more)} more would help`);
      return parts.join(" · ");
    },
  },
  knowledge: {
    all: "all",
    mine: "mine",
    broken: "not met",
    doubted: "in doubt",
    undo: "Undo",
    redo: "Redo",
    empty: "Answer a question, or select two items and say together or apart. Everything you say is listed here.",
    older: (n) => `Show ${count(n)} older`,
    none: "None.",
    read: "Read a file",
    readHint: "Statements from a file: a b | c, CSV, JSON lines, a tree, or the answers of linkwise ask",
    wasRead: (name, n) => (n ? `${short(name)}: ${many(n, "statement")} read in.` : `${short(name)} says nothing new.`),
    via: {
      question: "asked",
      drag: "dragged",
      menu: "said",
      key: "said",
      import: "from a file",
      repair: "settled",
      cli: "terminal",
      notebook: "notebook",
    },
  },
  marks: {
    holds: "holds, as an independent check found",
    broken: "not met: others contradict it, and it is a preference only",
    doubted: "in doubt: left out until you decide",
    undone: "undone",
    waiting: "not checked yet",
    none: "",
  },
  conflict: {
    title: "These cannot all be true",
    lead: "Any one of these changes settles it. You can go on answering; what is in doubt is left out meanwhile.",
    drop: "Drop it",
    flip: "Turn it around",
    soften: "Keep as a preference",
    proof: (n) => `Why (${many(n, "statement")})`,
    later: "Later",
    next: "Next contradiction",
    one: "One contradiction",
  },
  why: {
    title: (a, b) => `Why ${short(a)} and ${short(b)}?`,
    otherwise: "To have it otherwise",
    working: "Looking for the reason …",
    pick: "Select two items first, then ask why.",
  },
  move: {
    title: "What does this move say?",
    outside: "A branch can be moved onto one that lies outside of it.",
    before: "This contradicts what you said before",
    already: "the tree shows this already",
    choose: "Say it",
    cancel: "Cancel",
    how: (a) => `Moving ${a}: click the branch it belongs to, or walk there with the arrows or / and press Enter. Esc cancels.`,
    drag: (a) => `Drop ${a} on another branch`,
    notes: {
      branch: "Nothing else comes between the two.",
      group: "They share one group from now on.",
      away: "This fixes the order only.",
      apart: "Only this is ruled out.",
    },
  },
  history: {
    title: "History",
    at: (seq, last) => `#${seq} of ${last}`,
    play: "Play",
    stop: "Stop",
    compare: "Compare with now",
    undo: "Undo this",
    redo: "Redo",
    moved: (n) => (n === null || n === undefined ? "" : `moved ${count(n)}`),
    refers: (n) => `${many(n, "later statement")} refer to it`,
    slider: "Position in the history",
  },
  compare: {
    title: "Compare",
    from: "From",
    to: "to",
    now: "now",
    working: "Comparing …",
    moved: (n, total) => (n ? `${many(n, "item")} of ${count(total)} moved to another group` : "No item moved to another group."),
    item: "item",
    was: "was in",
    is: "is in",
    because: "because of",
    more: (n) => `and ${count(n)} more`,
  },
  export: {
    title: "Export",
    at: (seq) => `The state after #${seq}`,
    working: "Working out which files there are …",
    again: "Again, without this page",
    python: "In Python",
    shell: "In the shell",
    copy: "Copy",
    copied: "Copied",
    get: "Save",
    code: "The code is complete: columns, preparation, method and number of groups. Put it beside the exported files.",
  },
  people: {
    title: "People",
    both: "asked both",
    agree: "agree",
    none: "One person answers. Start linkwise with --people ann,bob to give each a link.",
    errors: "estimated share of slips",
  },
  phone: { only: "Tree, map and table need a wider screen.", last: "Your last answers", change: "Undo" },
  helpTitle: "Help and keys",
  helpLead:
    "Answer questions, or correct the tree by hand: drag a branch onto another, or select items and say what is true of them. linkwise keeps to everything you say, shows what follows, and tells you when two statements cannot both be true.",
  cluster: (c) => (c < 0 ? "–" : `group ${c + 1}`),
  said: {
    answered: (w) => `Saved: ${w}.`,
    contradicts: "It contradicts something said before.",
    asked: (number, trio, names) =>
      `${number ? `Question ${count(number)}. ` : ""}${trio ? words.card.trio : words.card.pair} ${names.map((name) => short(name)).join("; ")}.`,
    undone: (seq) => `#${seq} undone`,
    nothing: "There is nothing of yours to undo.",
    moved: (n) => (n ? `The tree changed: ${many(n, "item")} moved.` : "The tree is up to date."),
    selected: (n) => `${many(n, "item")} selected`,
    refused: "linkwise did not take this: ",
  },
};
