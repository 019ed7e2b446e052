// While the server reads and stores a table, its progress is asked for and shown; the answer to the form is the next page.
const ASK_EVERY_MS = 400;
const form = document.querySelector("form[data-progress]");
const bar = form.querySelector(".sending .progress");
const words = form.querySelector(".sending small");

async function ask() {
  const answer = await fetch(form.dataset.progress);
  if (!answer.ok) return;
  const { what, done, total } = await answer.json();
  if (!total) return;
  bar.classList.remove("unknown");
  bar.querySelector("span").style.width = `${(100 * done) / total}%`;
  words.textContent = `${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${what}`;
}

form.addEventListener("submit", () => {
  const timer = setInterval(() => ask().catch(() => undefined), ASK_EVERY_MS);
  addEventListener("pagehide", () => clearInterval(timer), { once: true });
});
