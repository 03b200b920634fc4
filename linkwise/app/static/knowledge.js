// Everything that was said, newest first, each with its mark and a way back.
import { html, useRef, useState, classes } from "./base.js";
import { hovered, marks, people, readStatements, rowsOfStatement, select, statements, undo, undoOf, who } from "./state.js";
import { statementWords, words } from "./words.js";

const text = words.knowledge,
  SHAPES = { holds: "✓", broken: "✕", doubted: "~", undone: "–", waiting: "·", none: "" };
const STEP = 100;

/** The mark of a statement: a shape, a color, and words for a screen reader. */
export function Mark({ seq }) {
  const mark = marks.value[seq] || "none";
  return html`<span class=${`mark ${mark}`} title=${words.marks[mark]}><span aria-hidden="true">${SHAPES[mark] ?? ""}</span>
    <span class="unseen">${words.marks[mark]}</span></span>`;
}

/** One statement as a row; hovering shows its items in tree and map. */
export function Row({ one, extra }) {
  const gone = marks.value[one.seq] === "undone",
    back = gone && undoOf(one.seq),
    rows = rowsOfStatement(one);
  const point = (on) => () => {
    hovered.value = on && rows.length ? { rows, arc: true, node: -1 } : null;
  };
  return html`<li class=${classes("said", gone && "gone")} onMouseEnter=${point(true)} onMouseLeave=${point(false)} onFocusIn=${point(true)} onFocusOut=${point(false)}>
    <${Mark} seq=${one.seq} /><span class="number">#${one.seq}</span>
    <button class="sentence" dir="auto" disabled=${!rows.length} onClick=${() => select(rows)}>${statementWords(one)}</button>
    <span class="soft by">
      ${extra ?? [one.who === who.value ? "" : one.who, text.via[one.via] || one.via].filter(Boolean).join(" · ")}</span>
    ${
      one.op !== "open" &&
      (gone
        ? back &&
          html`<button class="mini" onClick=${() => undo(back.seq, "menu")}>
      ${text.redo}</button>`
        : one.op !== "undo" &&
          html`<button class="mini" aria-label=${`${text.undo} #${one.seq}`} onClick=${() => undo(one.seq, "menu")}>
      ${text.undo}</button>`)
    }
  </li>`;
}

const FILTERS = {
  all: () => true,
  mine: (one) => one.who === who.value,
  broken: (one) => marks.value[one.seq] === "broken",
  doubted: (one) => marks.value[one.seq] === "doubted",
};

export function Knowledge() {
  const [filter, setFilter] = useState("all"),
    [shown, setShown] = useState(STEP),
    chooser = useRef();
  const take = (files) => {
    if (files[0]) readStatements(files[0]);
  };
  const kept = statements.value.filter((one) => one.op !== "open" && one.op !== "undo" && FILTERS[filter](one)).reverse();
  return html`<section class="pane knowledge-pane" aria-label=${words.panes.knowledge} onDragOver=${(e) => e.preventDefault()} onDrop=${(
    e,
  ) => {
    e.preventDefault();
    take(e.dataTransfer.files);
  }}>
    <header><h2>${words.panes.knowledge}</h2><span class="grow"></span>
      <div class="filters" role="group" aria-label=${words.panes.knowledge}>
        ${Object.keys(FILTERS)
          .filter((name) => name !== "mine" || people.value.length > 1)
          .map(
            (name) => html`<button class="mini" aria-pressed=${filter === name ? "true" : "false"} onClick=${() => setFilter(name)}>
          ${text[name]}</button>`,
          )}</div>
      <button class="mini" id="read" title=${text.readHint} onClick=${() => chooser.current.click()}>${text.read}</button>
      <input ref=${chooser} id="said-file" type="file" class="unseen" tabindex="-1" aria-label=${text.read} onChange=${(e) => {
        take(e.target.files);
        e.target.value = "";
      }} /></header>
    <div class="scroll" id="knowledge" tabindex="0" role="region" aria-label=${words.panes.knowledge}>
      ${
        kept.length
          ? html`<ul class="says">
        ${kept.slice(0, shown).map((one) => html`<${Row} key=${one.seq} one=${one} />`)}</ul>`
          : html`<p class="empty">
        ${filter === "all" ? text.empty : text.none}</p>`
      }
      ${
        kept.length > shown &&
        html`<button class="link" onClick=${() => setShown(shown + 5 * STEP)}>
        ${text.older(kept.length - shown)}</button>`
      }
    </div></section>`;
}
