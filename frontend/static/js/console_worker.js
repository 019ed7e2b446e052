// Service worker of one study's console: lets that page, and nothing else, be loaded again without network. Served at
// the console's own address (views.console_worker), so it can answer for no other page. The page comes from the lab
// whenever the lab answers; its last good copy, marked as such, stands in for it during a cut. Answers of the API are
// never touched. The copy goes with the sign-in: here on a redirect or refusal, in console_kept.js at sign-in and out.
const PAGE = self.registration.scope;
const NAME = `groundlab-console ${new URL(PAGE).pathname}`;
const KEPT_AT = "Kept-At";
const LONGEST_MS = 8 * 3600 * 1000; // as long as a session at the rig may last
const PATIENCE_MS = 5000; // a network that swallows everything is one that is cut
const REFUSALS = [401, 403, 404, 410];
const FILES = ["script", "style", "image", "font"];
const fromDevice = new Set(); // clients that were given the copy: their files come from the device too

self.addEventListener("install", (event) => event.waitUntil(begin()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("message", (event) => event.waitUntil(keep(event.data.files).then((isKept) => event.ports[0].postMessage(isKept))));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate" && url.origin + url.pathname === PAGE) event.respondWith(page(event));
  else if (FILES.includes(request.destination) && !url.pathname.startsWith("/api/")) event.respondWith(file(event));
});

// What an earlier sign-in left goes; a new release of this script leaves the copy until the page is kept anew.
async function begin() {
  if (!self.registration.active) await caches.delete(NAME);
  await self.skipWaiting();
}

async function page(event) {
  const asked = fetch(event.request).then(noted);
  const answer = await Promise.race([asked, late()]).catch(() => null);
  if (answer && answer.status < 500) return answer;
  const copy = await keptPage();
  if (!copy) return answer ?? asked;
  asked.catch(() => null);
  fromDevice.add(event.resultingClientId);
  return copy;
}

const late = () => new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, null));

// A redirect (to the login: the console knows no other), a refusal, a page that is gone: then the copy is nobody's.
async function noted(answer) {
  if (answer.type === "opaqueredirect" || REFUSALS.includes(answer.status)) await caches.delete(NAME);
  return answer;
}

async function keptPage() {
  const copy = await caches.match(PAGE, { cacheName: NAME });
  const age = Date.now() - Number(copy?.headers.get(KEPT_AT));
  return copy && age >= 0 && age < LONGEST_MS ? copy : null;
}

async function file({ request, clientId }) {
  const copy = () => caches.match(request.url, { cacheName: NAME });
  if (fromDevice.has(clientId)) return (await copy()) ?? fetch(request);
  try {
    return await fetch(request);
  } catch (error) {
    const found = await copy();
    if (found) return found;
    throw error;
  }
}

// Everything is fetched before anything is written: a cut in between leaves the copy before as it is.
async function keep(urls) {
  try {
    const files = await Promise.all(urls.map(async (url) => [url, await fetched(url)]));
    const answer = await noted(await fetch(PAGE, { redirect: "manual", cache: "no-store" }));
    if (!answer.ok) return false;
    const html = await answer.text();
    if (!linked(html).every((url) => urls.includes(url))) return false; // a newer release than the page that asks
    const cache = await caches.open(NAME);
    await Promise.all(files.map(([url, found]) => cache.put(url, found)));
    await cache.put(PAGE, marked(html));
    const old = (await cache.keys()).filter(({ url }) => url !== PAGE && !urls.includes(url));
    await Promise.all(old.map((request) => cache.delete(request)));
    return true;
  } catch {
    return false;
  }
}

async function fetched(url) {
  const answer = await fetch(url, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer;
}

const linked = (html) =>
  [...html.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(([, url]) => new URL(url, PAGE).href);

function marked(html) {
  const headers = { "Content-Type": "text/html; charset=utf-8", [KEPT_AT]: String(Date.now()) };
  return new Response(html.replace('data-from="lab"', 'data-from="device"'), { headers });
}
