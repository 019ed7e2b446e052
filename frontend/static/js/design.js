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
