// Small manners of every page: messages that go away, forms that are sent once, times that read as "3 minutes ago".
const TOAST_MS = 7000;

function watchToasts(root) {
  for (const toast of root.querySelectorAll(".toast:not([data-watched])")) {
    toast.dataset.watched = "";
    toast.querySelector("button")?.addEventListener("click", () => toast.remove());
    if (!toast.classList.contains("error")) setTimeout(() => toast.remove(), TOAST_MS);
  }
}

const STEPS = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
  [Infinity, "year"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function ago(date) {
  let value = (date - Date.now()) / 1000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(value) < size) return relative.format(Math.round(value), unit);
    value /= size;
  }
  return "";
}

function showTimes(root = document) {
  for (const time of root.querySelectorAll("time[data-ago]")) {
    const date = new Date(time.dateTime);
    time.textContent = ago(date);
    time.title = date.toLocaleString();
  }
}

// A link to something folded opens it and leads there.
function unfold() {
  const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const folded = target?.querySelector(":scope > .card-body > details");
  if (!folded) return;
  folded.open = true;
  folded.querySelector("select, input:not([type=hidden]), textarea")?.focus();
}

// Two frames later: in the first one the browser itself goes to the target, and takes the focus from everything else.
function unfoldSoon() {
  requestAnimationFrame(() => requestAnimationFrame(unfold));
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if ("sent" in form.dataset) {
    event.preventDefault();
    return;
  }
  if (form.method === "post" && !form.hasAttribute("hx-post")) form.dataset.sent = "";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
document.addEventListener("htmx:load", (event) => {
  watchToasts(event.target);
  showTimes(event.target);
});
watchToasts(document);
// On a narrow screen the navigation scrolls sideways: the place where one is stays in sight.
function showPlace() {
  const place = document.querySelector(".nav-link[aria-current]");
  const bar = place?.parentElement;
  if (bar && bar.scrollWidth > bar.clientWidth) bar.scrollLeft = place.offsetLeft - bar.offsetLeft - 40;
}

showPlace();
document.querySelector("details[open] [aria-invalid=true]")?.focus(); // a folded form that came back with errors
addEventListener("load", unfoldSoon);
addEventListener("hashchange", unfoldSoon);
showTimes();
setInterval(showTimes, 30_000);
