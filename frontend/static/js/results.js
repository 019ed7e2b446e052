/* Keeps what a reader unfolded on the results page open when the page is drawn anew: new trials, theme, filters. */
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

document.addEventListener("toggle", remember, true);
new MutationObserver(reopen).observe(document.getElementById("dashboard"), { childList: true, subtree: true });
