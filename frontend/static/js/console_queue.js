// What the operator decided, kept on this device until the lab has it. Each entry is sent in order, once: the lab knows a
// change sent again by the trial's version, so a repetition after a lost answer does no harm. An entry is sent only as
// the person who decided it.
import { uuid } from "./console_page.js";
import { Store } from "./console_store.js";

const LONGEST_PAUSE_MS = 15000;
const FINAL = [400, 404, 409, 410, 422]; // the lab read it and says no; anything else is tried again

// The cookie, not the page: signing in again, in another tab, draws a new token.
export function csrfToken() {
  const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
  return cookie ?? JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
}

// `as`: the lab refuses (412) what it would take from anybody else, as from who has signed in meanwhile in another tab.
export function post(url, body, { as, method = "POST" } = {}) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken() };
  if (as) headers["X-Signed-In-As"] = encodeURIComponent(as);
  return fetch(url, { method, headers, body: JSON.stringify(body), redirect: "error", signal: AbortSignal.timeout(15000) });
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
  constructor(study, user) {
    super();
    Object.assign(this, { study, user, pause: 1000 });
    this.store = new Store(() => this.tell("unsafe", {}));
    addEventListener("online", () => this.flush());
  }

  async all() {
    const entries = await this.store.all();
    return entries.filter((entry) => entry.study === this.study);
  }

  async mine() {
    return (await this.all()).filter((entry) => this.isMine(entry));
  }

  isMine(entry) {
    return (entry.user ?? this.user) === this.user;
  }

  async add(entry) {
    await this.store.add({ ...entry, study: this.study, user: this.user, id: uuid(), decidedAt: Date.now() });
    await this.flush();
  }

  // Before it is sent, a decision can be taken back; while it is on its way, nobody knows.
  async takeBack(trial) {
    const entry = (await this.mine()).find((other) => other.trial === trial);
    if (!entry || this.sending === entry.id) return null;
    await this.store.remove(entry);
    this.tell("waiting", { entries: await this.all() });
    return entry;
  }

  // One after the other: what was added while another round was under way goes with the next.
  flush() {
    clearTimeout(this.timer);
    const send = () => this.sendAll();
    this.round = (this.round ?? Promise.resolve()).then(send, send);
    return this.round;
  }

  async sendAll() {
    this.tell("waiting", { entries: await this.all() });
    for (const entry of await this.mine()) {
      this.sending = entry.id;
      const isDone = await this.send(entry);
      this.sending = null;
      if (!isDone) {
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
      answer = await post(entry.url, entry.body, { as: this.user });
    } catch {
      return false;
    }
    if (!answer.ok && !FINAL.includes(answer.status)) {
      this.tell("held", { status: answer.status, message: await messageOf(answer) });
      return false;
    }
    await this.store.remove(entry);
    if (!answer.ok) this.tell("refused", { entry, status: answer.status, message: await messageOf(answer) });
    return true;
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
