// What every view needs: markup as tagged templates, hooks and signals. Views never touch innerHTML.
import { h } from "./vendor/preact.js";
import { useEffect, useLayoutEffect, useRef } from "./vendor/hooks.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(h);
export { render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
export { signal, computed, effect, batch } from "./vendor/signals.js";

/** Join the class names that are set. */
export const classes = (...names) => names.filter(Boolean).join(" ");

/** A number as people write it: 12,345. */
export const count = (n) => Number(n).toLocaleString("en-US");

/** "1 item", "2 items", "3 branches". */
export const many = (n, one, more = one + "s") => `${count(n)} ${n === 1 ? one : more}`;

/** A moment as people of this place and language write it, of today only the time; other text stays as it is. */
export function moment(text) {
  const at = new Date(text || "");
  if (Number.isNaN(at.getTime())) return text;
  const today = at.toDateString() === new Date().toDateString();
  return at.toLocaleString(undefined, today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

/** Call `f` once per frame at most, with the newest arguments. */
export function perFrame(f) {
  let waiting = false, last;
  return (...given) => {
    last = given;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; f(...last); });
  };
}

/** Call `f` when `ms` have passed without another call. */
export function settled(f, ms) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => f(...given), ms); };
}

/** Give the focus back to a part of the page when what held it was disabled or is gone: to itself, else to `instead()`. */
export function useKeptFocus(host, instead) {
  const last = useRef(null);
  useEffect(() => {
    const box = host.current;
    const came = (event) => { last.current = event.target; };
    const left = (event) => { if (event.relatedTarget && !box.contains(event.relatedTarget)) last.current = null; };
    const pressed = (event) => { if (!box.contains(event.target)) last.current = null; };
    box.addEventListener("focusin", came); box.addEventListener("focusout", left); document.addEventListener("pointerdown", pressed);
    return () => { box.removeEventListener("focusin", came); box.removeEventListener("focusout", left); document.removeEventListener("pointerdown", pressed); };
  }, []);
  useLayoutEffect(() => {
    const held = last.current;
    if (!held || (document.activeElement !== document.body && document.activeElement !== held)) return;
    if (held.isConnected && !held.disabled) held.focus(); else if (!held.isConnected) instead()?.focus();
  });
}

/** Keep the pixels of a canvas equal to its size on screen; call `draw` when that changes. */
export function fitCanvas(canvas, draw) {
  const resize = () => {
    const box = canvas.getBoundingClientRect(), dense = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width * dense)), height = Math.max(1, Math.round(box.height * dense));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    draw();
  };
  const watch = new ResizeObserver(resize);
  watch.observe(canvas);
  resize();
  return () => watch.disconnect();
}
