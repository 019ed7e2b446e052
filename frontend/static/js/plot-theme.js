// Plotly in the page's own colours, light or dark.
export const palette = [
  "#4a7bdf", "#dd5c6c", "#2f9e68", "#d4901f", "#9670d6", "#21a0ba", "#b4713c", "#7f8b96",
  "#e389a6", "#7fa861", "#b99a1d", "#5b9bff", "#a871b5", "#12a585", "#f08048", "#5f93b8",
  "#c4434f", "#6f9a6c", "#c698a0", "#52798a",
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function theme() {
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line-strong"), linecolor: colour("--line") };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--text-soft") },
    hoverlabel: { bgcolor: colour("--raised"), bordercolor: colour("--line-strong"), font: { color: colour("--text") } },
    xaxis: { ...axis },
    yaxis: { ...axis },
  };
}
