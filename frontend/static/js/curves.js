// Curves of state and action in groups of joints, with a line at the playhead. Needs the global Plotly.
import { palette, theme } from "./plot-theme.js";

const SIDE = /(left|right)/i;
const HAND = /(hand|finger|thumb|index|middle|ring|pinky|gripper)/i;
const CHUNK = 12;

export function groupOf(name, position) {
  const side = name.match(SIDE)?.[1]?.toLowerCase();
  if (side) return `${side} ${HAND.test(name) ? "hand" : "arm"}`;
  const first = Math.floor(position / CHUNK) * CHUNK;
  return `entries ${first + 1}–${first + CHUNK}`;
}

export class Curves {
  constructor(element, data) {
    this.element = element;
    this.data = data;
    this.groups = new Map();
    const counts = new Map();
    for (const series of data.series) {
      const position = counts.get(series.feature) ?? 0;
      counts.set(series.feature, position + 1);
      const group = groupOf(series.name, position);
      if (!this.groups.has(group)) this.groups.set(group, []);
      this.groups.get(group).push(series);
    }
    this.line = document.createElement("div");
    this.line.style.cssText = "position:absolute;width:1.5px;background:var(--accent);pointer-events:none;display:none";
    element.append(this.line);
  }

  show(group) {
    this.group = group;
    const names = [...new Set(this.groups.get(group).map((series) => series.name))];
    const traces = this.groups.get(group).map((series) => this.#trace(series, names.indexOf(series.name)));
    const unit = this.groups.get(group).find((series) => series.unit)?.unit;
    const layout = {
      ...theme(),
      height: 340,
      margin: { l: 52, r: 12, t: 8, b: 40 },
      xaxis: { ...theme().xaxis, title: { text: "time [s]" }, range: [0, this.data.duration_s] },
      yaxis: { ...theme().yaxis, title: { text: unit ? `position [${unit}]` : "value" } },
      legend: { font: { size: 11 } },
    };
    Plotly.react(this.element, traces, layout, { displaylogo: false, responsive: true, displayModeBar: false });
    this.element.append(this.line);
  }

  #trace(series, index) {
    const isAction = series.feature === "action";
    return {
      x: this.data.time,
      y: series.values,
      name: series.name,
      legendgroup: series.name,
      showlegend: !isAction,
      hovertemplate: `${series.name} ${isAction ? "commanded" : "measured"} %{y:.4f}<extra></extra>`,
      line: { color: palette[index % palette.length], width: 1.4, dash: isAction ? "dot" : "solid" },
      mode: "lines",
    };
  }

  onSeek(listener) {
    this.element.on("plotly_click", (event) => listener(event.points[0].x));
  }

  moveTo(time) {
    const layout = this.element._fullLayout;
    if (!layout?.xaxis) return;
    const x = layout.xaxis._offset + layout.xaxis.d2p(time);
    const { t, h } = layout._size;
    Object.assign(this.line.style, { display: "block", left: `${x}px`, top: `${t}px`, height: `${h}px` });
  }
}
