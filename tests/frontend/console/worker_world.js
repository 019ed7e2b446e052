// A browser around the console's service worker: caches, a lab that answers as told, clients that ask. For Node.
import { readFileSync } from "node:fs";
import vm from "node:vm";

export const PAGE = "http://lab/studies/s/console/";
export const HTML = '<link href="/static/a.css"><script src="/static/a.js"></script><div data-from="lab">';
export const FILES = ["http://lab/static/a.css", "http://lab/static/a.js", "http://lab/static/b.js"];
const urlOf = (request) => (typeof request === "string" ? request : request.url);

class FakeCache {
  entries = new Map();
  put = async (request, answer) => void this.entries.set(urlOf(request), answer);
  keys = async () => [...this.entries.keys()].map((url) => ({ url }));
  delete = async (request) => this.entries.delete(urlOf(request));
}

class FakeCaches {
  named = new Map();
  open = async (name) => this.named.get(name) ?? this.named.set(name, new FakeCache()).get(name);
  delete = async (name) => this.named.delete(name);
  match = async (request, { cacheName }) => this.named.get(cacheName)?.entries.get(urlOf(request))?.clone();
}

export class World {
  constructor(path) {
    this.caches = new FakeCaches();
    this.answers = new Map(); // address -> what the lab answers there; "cut" throws, "silent" never answers
    this.asked = [];
    this.handlers = {};
    this.now = 1_000_000;
    const registration = { scope: PAGE, active: null };
    this.self = { registration, location: new URL(PAGE), clients: { claim() {} }, skipWaiting() {} };
    this.self.addEventListener = (type, handler) => (this.handlers[type] = handler);
    const soon = (then, _, value) => setImmediate(then, value);
    const names = { self: this.self, caches: this.caches, fetch: (request) => this.fetch(request), setTimeout: soon };
    vm.runInNewContext(readFileSync(path, "utf8"), { ...names, URL, Response, Date: { now: () => this.now } });
  }

  async fetch(request) {
    const url = urlOf(request);
    this.asked.push(url);
    const answer = this.isCut ? "cut" : this.answers.get(url) ?? new Response(`of ${url}`);
    if (answer === "cut") throw new TypeError("no network");
    if (answer === "silent") return new Promise(() => {});
    return answer.clone?.() ?? answer;
  }

  // What the worker answers; null where it leaves the request to the browser.
  async ask(url, { mode = "no-cors", destination = "", client = "c" } = {}) {
    const request = { url, mode, destination, method: "GET" };
    let answer = null;
    this.handlers.fetch({ request, clientId: client, resultingClientId: client, respondWith: (given) => (answer = given) });
    return answer;
  }

  load = (url = PAGE, client = "c") => this.ask(url, { mode: "navigate", destination: "document", client });

  async keep(files = FILES) {
    let kept = null;
    const port = { postMessage: (value) => (kept = value) };
    await new Promise((resolve) => this.handlers.message({ data: { files }, ports: [port], waitUntil: (work) => work.then(resolve) }));
    return kept;
  }

  lab = (html = HTML) => this.answers.set(PAGE, new Response(html));
  held = () => [...this.caches.named.values()].flatMap((cache) => [...cache.entries.keys()]);
}

export const text = async (answer) => (await answer).text();
export const failed = (answer) => Promise.resolve(answer).then(() => false, () => true);
