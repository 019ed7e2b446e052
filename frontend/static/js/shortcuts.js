// Keyboard first: `g` then a letter goes to a page, `/` filters, `?` lists the shortcuts of this page.
const GO_WITHIN_MS = 1500;
let goUntil = 0;

const isTyping = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
const dialog = () => document.getElementById("shortcuts");
const isConsole = document.querySelector("[data-own-keys]") !== null; // nobody leaves a running trial by a slip of the finger

function go(letter) {
  const link = document.querySelector(`[data-go="${CSS.escape(letter)}"]`);
  if (link) link.click();
  return Boolean(link);
}

document.addEventListener("keydown", (event) => {
  if (isConsole || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (goUntil > performance.now()) {
    goUntil = 0;
    if (go(event.key)) event.preventDefault();
    return;
  }
  if (event.key === "g") goUntil = performance.now() + GO_WITHIN_MS;
  else if (event.key === "?") dialog()?.showModal();
  else if (event.key === "/") {
    const filter = document.querySelector("input[type=search]");
    if (filter) {
      event.preventDefault();
      filter.focus();
    }
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-show-shortcuts]")) dialog()?.showModal();
  if (event.target === dialog()) dialog().close();
});
