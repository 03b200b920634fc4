// Telling the person something: on screen for a while, and to a screen reader.
import { notice, spoken, status } from "./signals.js";
import { Refused, reachable } from "./transport.js";

let noticeTimer;
/** Tell the person something, on screen and to a screen reader. */
export function tell(text, kind = "plain") {
  notice.value = { text, kind };
  spoken.value = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(
    () => {
      notice.value = null;
    },
    kind === "bad" ? 12000 : 4000,
  );
}
/** Tell a refusal in its words; what is no refusal is a fault of the page. */
export function complain(problem) {
  if (problem.name === "AbortError") return;
  if (problem.status === 401) {
    status.value = "out";
    return;
  }
  if (!(problem instanceof Refused)) {
    if (reachable.value) throw problem;
    return;
  }
  tell([problem.message, problem.hint].filter(Boolean).join(" "), "bad");
}
