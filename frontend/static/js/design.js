// Draws the power curves that the server computed, in the page's theme; the panel is replaced whenever a field changes.
const theme = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

function draw() {
  const data = document.getElementById("power-figures");
  if (!data) return;
  const figures = JSON.parse(data.textContent);
  for (const element of document.querySelectorAll("[data-power-figure]")) {
    const figure = figures[element.dataset.powerFigure][theme()];
    window.Plotly.react(element, figure.data, figure.layout, { displaylogo: false, responsive: true });
  }
}

// A figure inside a closed <details> has no width until it opens; "toggle" does not bubble.
function onToggle(event) {
  if (!event.target.open) return;
  for (const element of event.target.querySelectorAll("[data-power-figure]")) window.Plotly.Plots.resize(element);
}

document.addEventListener("toggle", onToggle, true);
document.addEventListener("htmx:afterSwap", draw);
document.addEventListener("themechange", draw);
if (window.Plotly) draw();
else addEventListener("load", draw);

// Ctrl+S (or Cmd+S) saves the draft; leaving with unsaved fields asks first.
const form = document.getElementById("design");
let isChanged = false;

function onKey(event) {
  if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.querySelector('button[value="save"]').click();
}

function onLeave(event) {
  if (isChanged) event.preventDefault();
}

// Another cell has other objects and policies: the server fills the fields anew, nothing is saved.
const cell = document.getElementById("id_cell");
const takeCell = document.getElementById("take-cell");

if (takeCell) {
  takeCell.hidden = true; // without this script the button does it
  cell.addEventListener("change", () => takeCell.click());
}

if (form) {
  form.addEventListener("change", () => (isChanged = true));
  form.addEventListener("submit", () => (isChanged = false));
  document.addEventListener("keydown", onKey);
  addEventListener("beforeunload", onLeave);
}
