// What others say of a trial while its page is open. The socket only says that something changed; the list is fetched.
// What a person has open or is writing stays: only the list is replaced, and in it no remark that is being edited.
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const isEdited = (remark) => remark.querySelector("details[open]") !== null;

// The list's new children: fresh ones, except those that are being edited here.
export function merged(before, fresh) {
  const edited = new Map(before.filter(isEdited).map((remark) => [remark.id, remark]));
  return fresh.map((remark) => edited.get(remark.id) ?? remark);
}

async function refresh(section, onChange) {
  const answer = await fetch(section.dataset.url, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const list = document.getElementById("remark-list");
  const before = [...list.children];
  const known = new Set(before.map((remark) => remark.id));
  const fresh = [...page.getElementById("remark-list").children].map((child) => document.adoptNode(child));
  list.replaceChildren(...merged(before, fresh));
  htmx.process(list);
  const news = fresh.filter((remark) => remark.id && !known.has(remark.id));
  for (const remark of news) remark.classList.add("fresh");
  if (news.length) document.getElementById("remark-news").textContent = `New from ${news[0].dataset.author}`;
  onChange();
}

// Follows the trial's socket for as long as the page is open; after a cut, what was missed is fetched.
export function followOthers(onChange = () => {}) {
  const section = document.getElementById("remarks");
  if (!section) return;
  let [pause, isFirst] = [FIRST_PAUSE_MS, true];
  const connect = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/trials/${section.dataset.trial}/`);
    socket.addEventListener("open", () => {
      pause = FIRST_PAUSE_MS;
      if (!isFirst) refresh(section, onChange);
      isFirst = false;
    });
    socket.addEventListener("message", () => refresh(section, onChange));
    socket.addEventListener("close", ({ code }) => {
      if (code >= 4000) return;
      setTimeout(connect, pause);
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    });
  };
  connect();
}
