// Light and dark: kept in this browser, lost without harm.
import { computed, signal } from "./base.js";

export const theme = signal(localStorage.getItem("linkwise-theme") || "");
const system = matchMedia("(prefers-color-scheme: dark)"),
  systemDark = signal(system.matches);
system.addEventListener("change", () => {
  systemDark.value = system.matches;
});
/** Whether the page is dark now, by choice or as the system is: canvases are painted again, as style sheets need not be. */
export const dark = computed(() => (theme.value ? theme.value === "dark" : systemDark.value));
export function setTheme(name) {
  theme.value = name;
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("linkwise-theme", name);
}
export const turnTheme = () => setTheme(dark.value ? "light" : "dark");
if (theme.value) setTheme(theme.value);
