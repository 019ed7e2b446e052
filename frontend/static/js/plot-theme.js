// Plotly in the page's own colours, light or dark.
export const palette = [
  "#2f5fd0", "#d1495b", "#1b7a4b", "#c77d0a", "#7b4fb5", "#1a8fa8", "#a0522d", "#5b6770",
  "#e07a9c", "#6a994e", "#b08900", "#3a86ff", "#8d5a97", "#00916e", "#ef6f2e", "#457b9d",
  "#9d0208", "#588157", "#b5838d", "#264653",
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
