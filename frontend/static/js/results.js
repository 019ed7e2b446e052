/* The results page is drawn anew on new trials, theme and filters: what a reader unfolded stays open, and the links to
   its parts say where the reader is. A part named in the address is scrolled to once it is drawn. */
const opened = new Set();
const nameOf = (details) => `${details.closest("section")?.querySelector("h2")?.textContent}: ${details.querySelector("summary")?.textContent}`;

function remember(event) {
  if (!event.target.matches?.("#body details")) return;
  if (event.target.open) opened.add(nameOf(event.target));
  else if (event.target.isConnected) opened.delete(nameOf(event.target));
}

function reopen() {
  for (const details of document.querySelectorAll("#body details:not([open])")) {
    if (opened.has(nameOf(details)) && !details.dataset.seen) details.open = true;
    details.dataset.seen = "yes";
  }
}

let sought = decodeURIComponent(location.hash.slice(1));

function seek() {
  const part = sought ? document.getElementById(sought) : null;
  if (!part?.classList.contains("part")) return;
  sought = "";
  requestAnimationFrame(() => part.scrollIntoView());
}

function markPart() {
  const parts = [...document.querySelectorAll("#body .part")];
  const passed = parts.filter((part) => part.getBoundingClientRect().top < innerHeight / 3);
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  const current = isAtEnd ? parts.at(-1) : (passed.at(-1) ?? parts[0]);
  for (const link of document.querySelectorAll(".part-links a")) {
    if (link.hash === `#${current?.id}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function drawn() {
  reopen();
  seek();
  markPart();
}

document.addEventListener("scroll", markPart, { passive: true });
document.addEventListener("toggle", remember, true);
new MutationObserver(drawn).observe(document.getElementById("dashboard"), { childList: true, subtree: true });
