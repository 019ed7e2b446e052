// What the operator decided, kept in IndexedDB until the lab has it. Each entry is sent in order, once: the lab knows a
// change sent again by the trial's version, so a repetition after a lost answer does no harm.
import { uuid } from "./console_page.js";

const NAME = "groundlab-console";
const STORE = "outbox";
const LONGEST_PAUSE_MS = 15000;

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "order", autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export function csrfToken() {
  return JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
}

export function post(url, body, method = "POST") {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken() };
  return fetch(url, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(15000) });
}

// Begins a session; when it is held elsewhere, the operator may take over.
export async function postSession(url, body) {
  const answer = await post(url, body);
  if (answer.status !== 409) return answer;
  const { detail } = await answer.clone().json();
  return confirm(`${detail}\n\nTake over? The other device can start no further trial.`) ? post(url, { ...body, take_over: true }) : answer;
}

export async function messageOf(answer) {
  try {
    const body = await answer.json();
    return body.detail ?? Object.values(body).flat().join(" ");
  } catch {
    return `The lab answers ${answer.status}.`;
  }
}

export class Outbox extends EventTarget {
  constructor(study) {
    super();
    this.study = study;
    this.pause = 1000;
    this.database = open();
    addEventListener("online", () => this.flush());
  }

  async store(mode) {
    return (await this.database).transaction(STORE, mode).objectStore(STORE);
  }

  async all() {
    const entries = await settled((await this.store("readonly")).getAll());
    return entries.filter((entry) => entry.study === this.study);
  }

  async add(entry) {
    const whole = { ...entry, study: this.study, id: uuid(), decidedAt: Date.now() };
    await settled((await this.store("readwrite")).add(whole));
    await this.flush();
  }

  async remove(entry) {
    await settled((await this.store("readwrite")).delete(entry.order));
  }

  // One after the other: what was added while another round was under way goes with the next.
  flush() {
    clearTimeout(this.timer);
    const send = () => this.sendAll();
    this.round = (this.round ?? Promise.resolve()).then(send, send);
    return this.round;
  }

  async sendAll() {
    for (const entry of await this.all()) {
      if (!(await this.send(entry))) {
        this.timer = setTimeout(() => this.flush(), this.pause);
        this.pause = Math.min(LONGEST_PAUSE_MS, this.pause * 2);
        break;
      }
      this.pause = 1000;
    }
    this.tell("waiting", { entries: await this.all() });
  }

  async send(entry) {
    let answer;
    try {
      answer = await post(entry.url, entry.body);
    } catch {
      return false;
    }
    if (answer.status >= 500 || answer.status === 429) return false;
    if (answer.status === 401 || (answer.status === 403 && answer.redirected)) return false;
    await this.remove(entry);
    if (answer.ok) this.tell("sent", { entry, trial: await answer.json() });
    else this.tell("refused", { entry, status: answer.status, message: await messageOf(answer) });
    return true;
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
