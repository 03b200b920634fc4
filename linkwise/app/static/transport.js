// Every request of the page, the queue of statements that wait to be saved, and the stream of events.
import { signal } from "./base.js";
import { unpack } from "./arrays.js";

/** How many statements wait, and whether the server can be reached. */
export const unsaved = signal(0),
  reachable = signal(true),
  notSaved = signal("");

/** Hints are written in lower case for the terminal; those that can be typed stay as they are. */
const asSentence = (hint) => (/^(pip|linkwise) /.test(hint) ? hint : hint.charAt(0).toUpperCase() + hint.slice(1));

export class Refused extends Error {
  constructor(status, told) {
    super(told.message || `The server answered ${status}.`);
    Object.assign(this, { status, code: told.code, hint: asSentence(told.hint || ""), told });
  }
}

async function request(path, options = {}) {
  const { body, raw, headers, stop } = options;
  const made = {
    method: body === undefined && raw === undefined ? "GET" : "POST",
    headers: { "x-linkwise": "1", ...headers },
    signal: stop,
  };
  if (body !== undefined) {
    made.headers["content-type"] = "application/json";
    made.body = JSON.stringify(body);
  }
  if (raw !== undefined) {
    made.headers["content-type"] = "application/octet-stream";
    made.body = raw;
  }
  let reply;
  try {
    reply = await fetch(path, made);
  } catch (lost) {
    if (lost.name !== "AbortError") reachable.value = false;
    throw lost;
  }
  reachable.value = true;
  if (!reply.ok) throw new Refused(reply.status, await reply.json().catch(() => ({})));
  return reply;
}

const query = (given) => {
  const kept = Object.entries(given || {}).filter(([, v]) => v !== undefined && v !== null && v !== "");
  return kept.length ? `?${new URLSearchParams(kept.map(([k, v]) => [k, String(v)]))}` : "";
};
/** Read something of the project; as if stopped by the page itself when the project was closed meanwhile. */
export async function get(name, given, stop) {
  const reply = await request(`/api/${name}${query(given)}`, { stop });
  if (reply.status === 204) throw new DOMException("the project was closed", "AbortError");
  return reply.json();
}
export const post = async (name, body) => (await request(`/api/${name}`, { body })).json();
export const upload = async (name, file) =>
  (await request("/api/upload", { raw: file, headers: { "x-name": encodeURIComponent(name) } })).json();
export const readIn = async (name, file) =>
  (await request("/api/read", { raw: file, headers: { "x-name": encodeURIComponent(name) } })).json();
export const pictureAddress = (row) => `/api/picture/${Number(row)}`;
export const exportAddress = (kind, at) => `/api/export/${encodeURIComponent(kind)}${query({ at })}`;

/** Arrays, or null when the server has none yet. */
export async function arrays(name, given, stop) {
  const reply = await request(`/api/${name}${query(given)}`, { stop });
  if (reply.status === 204) return null;
  const raw = await reply.arrayBuffer();
  return raw.byteLength ? unpack(raw) : null;
}

/** Exchange the one-time code of the address for a cookie; the code leaves the address bar before anything else. */
export async function signIn() {
  if (!location.hash.startsWith("#code=")) return;
  const code = location.hash.slice(6);
  history.replaceState(null, "", location.pathname);
  await post("login", { code });
}

// ---------------------------------------------------------------- statements: kept until the server has them on disk

const waiting = []; // {told, project, done, failed}
let pumping = false;

function store() {
  return new Promise((done) => {
    const opened = indexedDB.open("linkwise", 1);
    opened.onupgradeneeded = () => opened.result.createObjectStore("unsaved", { keyPath: "id" });
    opened.onsuccess = () => done(opened.result);
    opened.onerror = () => done(null); // private windows: the queue then lives in memory only
  });
}
async function keep(entry) {
  const db = await store();
  db?.transaction("unsaved", "readwrite")
    .objectStore("unsaved")
    .put({ id: entry.told.id, project: entry.project, told: entry.told, at: entry.at });
  db?.close();
}
async function forget(id) {
  const db = await store();
  db?.transaction("unsaved", "readwrite").objectStore("unsaved").delete(id);
  db?.close();
}

/** Statements of this project that an earlier page could not save: send them first, in their order. */
export async function resume(project) {
  const db = await store();
  if (!db) return;
  const left = await new Promise((done) => {
    const asked = db.transaction("unsaved").objectStore("unsaved").getAll();
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => done([]);
  });
  db.close();
  for (const one of left.filter((one) => one.project === project).sort((a, b) => a.at - b.at)) {
    if (!waiting.some((other) => other.told.id === one.told.id)) enqueue(one.told, project).catch(() => {});
  }
}

function enqueue(told, project) {
  const sent = new Promise((done, failed) => waiting.push({ told, project, done, failed }));
  unsaved.value = waiting.length;
  pump();
  return sent;
}

let last = 0; // the time of the newest statement; no two of a page have the same, so that their order is kept
/** Say one statement: resolves with the reply when it is on disk, rejects when the server refuses it. */
export async function say(statement, project) {
  const told = { id: crypto.randomUUID(), ...statement };
  last = Math.max(Date.now(), last + 1);
  keep({ told, project, at: last });
  return enqueue(told, project);
}

async function pump() {
  if (pumping) return;
  pumping = true;
  let pause = 500;
  while (waiting.length) {
    const { told, project, done, failed } = waiting[0];
    try {
      const reply = await post("say", { ...told, project });
      waiting.shift();
      forget(told.id);
      notSaved.value = "";
      pause = 500;
      unsaved.value = waiting.length;
      done(reply);
    } catch (problem) {
      // 401: the server was started again; it takes the statement when this browser was let in by a new link
      const later = !(problem instanceof Refused) || problem.status >= 500 || [401, 429].includes(problem.status);
      if (later) {
        notSaved.value = problem instanceof Refused ? problem.message : "";
        await new Promise((go) => setTimeout(go, pause));
        pause = Math.min(pause * 2, 8000);
        continue;
      }
      waiting.shift();
      if (!["other", "closed"].includes(problem.code)) forget(told.id); // else it waits until its project is open again
      unsaved.value = waiting.length;
      failed(problem);
    }
  }
  pumping = false;
}

// ---------------------------------------------------------------- events: one stream per browser, not one per tab

const NAMES = ["said", "tree", "map", "work", "engine", "saved", "question", "project", "people"];

/** Listen to events. One tab holds the stream (a lock decides which) and passes events on to the others. */
export function listen(heard) {
  const channel = new BroadcastChannel("linkwise-events");
  channel.onmessage = (event) => heard(event.data.name, event.data.told);
  const lead = () =>
    new Promise(() => {
      const stream = new EventSource("/api/events");
      const pass = (name, told) => {
        channel.postMessage({ name, told });
        heard(name, told);
      };
      for (const name of NAMES) stream.addEventListener(name, (event) => pass(name, JSON.parse(event.data || "{}")));
      stream.onmessage = (event) => {
        const told = JSON.parse(event.data);
        pass(told.event || "said", told);
      };
      stream.onopen = () => {
        reachable.value = true;
        pass("reconnected", {});
      };
      stream.onerror = () => {
        reachable.value = stream.readyState === EventSource.OPEN;
      };
    });
  if (navigator.locks) navigator.locks.request("linkwise-events", lead);
  else lead();
}
