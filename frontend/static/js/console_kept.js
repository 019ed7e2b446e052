// What this device keeps of a console, so that the page can be loaded again during a cut: the page itself (by its
// service worker) and the state that it showed last. Both are one person's and go when that person signs out or
// somebody signs in.
import { recall, remember } from "./console_page.js";

const CACHE = "groundlab-console ";
const STATE = "console-state ";
const AGAIN_MS = 30 * 60 * 1000; // the copy is no older than that when a cut begins
const STATIC = new URL("../", import.meta.url).href;

// A plain http address in the lab's own network is no secure context: there the browser offers no worker.
const canKeep = "serviceWorker" in navigator;

// The state goes last: that tells the other tabs, which may keep their page anew.
export async function forget() {
  if (canKeep) await forgetPages();
  for (const key of Object.keys(localStorage)) if (key.startsWith(STATE)) localStorage.removeItem(key);
}

async function forgetPages() {
  const workers = await navigator.serviceWorker.getRegistrations();
  await Promise.all(workers.filter(({ scope }) => scope.endsWith("/console/")).map((worker) => worker.unregister()));
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(CACHE)).map((name) => caches.delete(name)));
}

export class Keeper {
  constructor({ user, from, workerUrl }) {
    Object.assign(this, { user, workerUrl, key: STATE + workerUrl, isFromDevice: from === "device", isKept: null });
    for (const form of document.querySelectorAll('form[action$="/logout/"]')) form.addEventListener("submit", forget);
    addEventListener("storage", ({ key, newValue }) => key === this.key && newValue === null && this.show(null));
    setInterval(() => this.isKept !== null && this.keepPage(), AGAIN_MS);
  }

  // Another tab, where somebody meant to sign in, has made this device forget: once the lab says who it is, again.
  get isForgotten() {
    return this.wasKept && this.isKept === null;
  }

  // Not where the browser offers no worker, or has refused ours.
  get isPossible() {
    return canKeep && this.isKept !== false;
  }

  // Asks the worker for a copy of this page with the files that it has loaded.
  async keepPage() {
    if (!canKeep) return;
    try {
      await navigator.serviceWorker.register(this.workerUrl);
      const { active } = await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
      active.postMessage({ files: filesOfPage() }, [port2]);
      this.show(await answer);
    } catch {
      this.show(false); // refused, as with a certificate that the browser does not trust
    }
  }

  async forget() {
    this.show(null);
    await forget();
  }

  show(isKept) {
    this.wasKept ||= isKept !== null;
    this.isKept = isKept;
    document.getElementById("console").dataset.kept = isKept ?? "";
  }

  // What the page shows, and whether the robot is stopped: the API's answers themselves are kept nowhere.
  keepState(state, isStopped) {
    remember(localStorage, this.key, JSON.stringify({ user: this.user, at: Date.now(), state, isStopped }));
  }

  // The newest state known here, and for how long nothing has been heard of the lab, by the device's clock.
  recall(loaded) {
    const kept = this.isFromDevice ? recall(localStorage, this.key) : null;
    const isMine = kept?.user === this.user && Date.parse(kept.state.now) >= Date.parse(loaded.now);
    if (!isMine) return { state: loaded, isStopped: false, ageMs: 0 };
    return { ...kept, ageMs: Math.max(0, Date.now() - kept.at) };
  }
}

function filesOfPage() {
  const linked = [...document.querySelectorAll("link[href], script[src]")].map((element) => element.href || element.src);
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name.split("#")[0]);
  return [...new Set([...linked, ...loaded])].filter((url) => url.startsWith(STATIC));
}
