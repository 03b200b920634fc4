// The drawer at the right: history, compare, export, why, contradictions, people, help. One at a time, never modal.
import { html, useKeptFocus, useLayoutEffect, useRef } from "./base.js";
import { panel } from "./state.js";
import { words } from "./words.js";

/** A drawer with a title and a way out; the focus goes in when it opens, and back when it closes. */
export function Drawer({ title, children, wide }) {
  const host = useRef();
  useLayoutEffect(() => {
    const before = document.activeElement;
    host.current.focus();
    return () => {
      if (document.contains(before)) before.focus?.();
    };
  }, [title]);
  useKeptFocus(host, () => host.current);
  return html`<aside class=${wide ? "drawer wide" : "drawer"} role="complementary" aria-label=${title} tabindex="-1" ref=${host} onKeyDown=${(
    e,
  ) => {
    if (e.key === "Escape") {
      panel.value = null;
      e.stopPropagation();
    }
  }}>
    <header><h2>${title}</h2><span class="grow"></span><button class="mini" onClick=${() => {
      panel.value = null;
    }}>
        ${words.close} <kbd>Esc</kbd></button></header>
    <div class="scroll" tabindex="0" role="region" aria-label=${title}>${children}</div></aside>`;
}
