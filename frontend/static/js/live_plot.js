// Joint positions as lines on a canvas: rolling while live, with a playhead when replayed.
const COLORS = ["#2f5fd0", "#d0632f", "#1b7a4b", "#a02f8f", "#8a7a00", "#1f8fa3", "#c0221a", "#6b3fa0"];
const DARK_COLORS = ["#8fb0ff", "#f0a070", "#66cf98", "#e08fd2", "#d8c860", "#70cfe0", "#ff8f86", "#c3a1f0"];
export const MARGIN = { left: 44, right: 10, top: 10, bottom: 22 };

const isDark = () => document.documentElement.dataset.theme === "dark";
export const colorOf = (index) => (isDark() ? DARK_COLORS : COLORS)[index % COLORS.length];

export function groupsOf(names) {
  const groups = new Map();
  names.forEach((name, index) => {
    const hand = name.match(/^(right|left)_hand_([a-z]+)/);
    const key = hand ? `${hand[1]} hand, ${hand[2]}` : name.replace(/_?joint\d+$|_?\d+$/, "").replaceAll("_", " ");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(index);
  });
  return groups;
}

export function numberedNames(count) {
  return Array.from({ length: count }, (_, index) => `joint ${index + 1}`);
}

export class JointPlot {
  constructor(canvas, legend, picker) {
    this.canvas = canvas;
    this.legend = legend;
    this.picker = picker;
    this.names = [];
    this.indices = [];
    this.data = { times: [], lines: [], dashed: null };
    picker?.addEventListener("change", () => this.choose(picker.value));
    new ResizeObserver(() => this.draw()).observe(canvas);
    new MutationObserver(() => this.redraw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  setNames(names) {
    this.names = names;
    this.groups = groupsOf(names);
    if (this.picker) this.picker.replaceChildren(...[...this.groups.keys()].map((key) => new Option(key, key)));
    this.choose(this.groups.keys().next().value);
  }

  choose(key) {
    this.indices = this.groups.get(key) ?? [];
    this.redraw();
  }

  redraw() {
    this.drawLegend();
    this.draw();
  }

  drawLegend() {
    const entries = this.indices.map((index, order) => swatch(this.names[index].replaceAll("_", " "), colorOf(order)));
    if (this.data.dashed) entries.push(swatch(this.data.dashedLabel ?? "commanded", "var(--text-faint)", true));
    this.legend?.replaceChildren(...entries);
  }

  show(data) {
    this.data = data;
    this.draw();
  }

  // What is drawn: everything, or the stretch of a long recording that the playhead is in.
  shown(playhead = this.playhead) {
    const { times } = this.data;
    return this.stretch?.at(playhead ?? 0) ?? { start: times[0], end: times.at(-1) };
  }

  // The time under a point `x` pixels from the left edge of the plot; null while there is nothing to point at.
  timeAt(x) {
    if (this.data.times.length < 2) return null;
    const { start, end } = this.shown();
    const share = (x - MARGIN.left) / (this.canvas.clientWidth - MARGIN.left - MARGIN.right);
    return start + Math.min(1, Math.max(0, share)) * (end - start);
  }

  draw(playhead = this.playhead) {
    this.playhead = playhead;
    const { width, height, context } = fit(this.canvas);
    context.clearRect(0, 0, width, height);
    const { times } = this.data;
    if (times.length < 2 || !this.indices.length) return;
    const chosen = (lines) => (lines ? this.indices.map((index) => lines[index]) : []);
    const solid = chosen(this.data.lines);
    const dashed = chosen(this.data.dashed);
    const scale = scaleOf(this.shown(), [...solid, ...dashed], width, height, this.data.zero ?? 0);
    drawAxes(context, scale, width, height);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, 0, width - MARGIN.left - MARGIN.right, height);
    context.clip();
    dashed.forEach((line, order) => drawLine(context, times, line, scale, colorOf(order), [4, 3]));
    solid.forEach((line, order) => drawLine(context, times, line, scale, colorOf(order), []));
    for (const time of this.data.marks ?? []) drawMark(context, scale.x(time), height);
    if (playhead !== undefined) drawPlayhead(context, scale.x(playhead), height);
    context.restore();
  }
}

function drawMark(context, x, height) {
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--line-strong");
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  line(context, x, MARGIN.top, x, height - MARGIN.bottom);
  context.setLineDash([]);
}

export function swatch(text, color, isDashed = false) {
  const span = document.createElement("span");
  span.textContent = text;
  span.style.setProperty("--swatch", color);
  if (isDashed) span.className = "dashed";
  return span;
}

export function fit(canvas) {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { width, height, context };
}

function scaleOf({ start, end }, lines, width, height, zero) {
  let low = Infinity;
  let high = -Infinity;
  for (const line of lines) {
    for (const value of line) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const pad = Math.max(0.05, (high - low) * 0.08);
  low -= pad;
  high += pad;
  return {
    low, high, start, end, zero,
    x: (time) => MARGIN.left + ((time - start) / (end - start || 1)) * (width - MARGIN.left - MARGIN.right),
    y: (value) => MARGIN.top + ((high - value) / (high - low)) * (height - MARGIN.top - MARGIN.bottom),
  };
}

function drawAxes(context, scale, width, height) {
  const style = getComputedStyle(document.documentElement);
  context.strokeStyle = style.getPropertyValue("--line");
  context.fillStyle = style.getPropertyValue("--text-faint");
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of ticks(scale.low, scale.high, 4)) {
    line(context, MARGIN.left, scale.y(value), width - MARGIN.right, scale.y(value));
    context.fillText(`${value.toFixed(1)}`, MARGIN.left - 6, scale.y(value));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const time of ticks(scale.start - scale.zero, scale.end - scale.zero, 6)) {
    context.fillText(`${+time.toFixed(1)} s`, Math.min(scale.x(time + scale.zero), width - 16), height - 16);
  }
  context.textAlign = "left";
  context.fillText("rad", 2, 2);
}

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const values = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) values.push(value);
  return values;
}

function drawLine(context, times, values, scale, color, dash) {
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash(dash);
  context.beginPath();
  times.forEach((time, i) => values[i] !== null && context.lineTo(scale.x(time), scale.y(values[i])));
  context.stroke();
  context.setLineDash([]);
}

function drawPlayhead(context, x, height) {
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
  context.lineWidth = 1.5;
  line(context, x, MARGIN.top, x, height - MARGIN.bottom);
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// Keeps the last seconds of a live joint stream in the form that JointPlot draws.
export class RollingJoints {
  constructor(seconds = 15) {
    this.seconds = seconds;
    this.clear();
  }

  clear() {
    this.times = [];
    this.lines = [];
  }

  add(position) {
    const timeS = performance.now() / 1000;
    if (this.lines.length !== position.length) this.clear();
    if (!this.lines.length) this.lines = position.map(() => []);
    this.times.push(timeS);
    position.forEach((value, index) => this.lines[index]?.push(value));
    while (this.times.length > 2 && timeS - this.times[0] > this.seconds) {
      this.times.shift();
      for (const values of this.lines) values.shift();
    }
    return { times: this.times, lines: this.lines, dashed: null, zero: timeS };
  }
}
