// The curve of one training metric over steps. A loss is shown on a logarithmic axis.
import { palette, theme } from "./plot-theme.js";

const MARKED_UP_TO = 40;
const element = document.getElementById("training-curve");
const choice = document.getElementById("metric");
const curves = JSON.parse(document.getElementById("curves").textContent);
const first = curves.find(({ name }) => name === "loss") ?? curves[0];

function show(name) {
  const curve = curves.find((found) => found.name === name);
  const isLogarithmic = /loss/.test(name) && curve.values.every((value) => value === null || value > 0);
  const trace = { x: curve.steps, y: curve.values, mode: curve.steps.length < MARKED_UP_TO ? "lines+markers" : "lines", line: { color: palette[0], width: 1.8 }, name };
  const layout = {
    ...theme(),
    height: 300,
    margin: { l: 60, r: 12, t: 8, b: 42 },
    xaxis: { ...theme().xaxis, title: { text: "step" } },
    yaxis: { ...theme().yaxis, title: { text: name }, type: isLogarithmic ? "log" : "linear" },
  };
  Plotly.react(element, [trace], layout, { displayModeBar: false, responsive: true });
}

choice.replaceChildren(...curves.map(({ name }) => new Option(name, name)));
choice.value = first.name;
choice.addEventListener("change", () => show(choice.value));
document.addEventListener("themechange", () => show(choice.value));
show(first.name);
