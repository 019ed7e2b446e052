// What each step was attributed to, below the joints: shares as a stacked area, scores as one heat row each.
import { MARGIN, colorOf, fit, swatch } from "./live_plot.js";
import { folded, stacked, stepAt } from "./series.js";

const STACK_PX = 96;
const ROW_PX = 20;
const PAD = { top: 2, bottom: 4 };
const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const words = (name) => name.replaceAll("_", " ");
const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(100 * value)}%`);

class Strip {
  constructor({ name, kind, components, times_s: times, values }, stretch) {
    Object.assign(this, { kind, times, stretch }, kind === "shares" ? folded(components, values) : { components, values });
    this.figure = document.createElement("figure");
    this.figure.className = "attribution";
    this.canvas = document.createElement("canvas");
    this.canvas.style.height = `${kind === "shares" ? STACK_PX : ROW_PX * this.components.length + PAD.top + PAD.bottom}px`;
    this.canvas.setAttribute("role", "img");
    const shown = kind === "shares" ? "shares of the whole" : "scores of 0 to 1";
    this.canvas.setAttribute("aria-label", `Attribution ${name}: ${shown} of ${this.components.join(", ")}; a click goes to that moment`);
    const caption = document.createElement("figcaption");
    const title = document.createElement("strong");
    title.textContent = words(name);
    this.legend = document.createElement("span");
    this.legend.className = "joint-legend";
    caption.append(title, this.legend);
    this.figure.append(caption, this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  x(time, width) {
    const { start, end } = this.range;
    return MARGIN.left + ((time - start) / (end - start || 1)) * (width - MARGIN.left - MARGIN.right);
  }

  draw(time = this.time) {
    this.time = time;
    this.range = this.stretch.at(time ?? 0);
    const { width, height, context } = fit(this.canvas);
    context.clearRect(0, 0, width, height);
    this.#drawAxis(context, height);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, 0, width - MARGIN.left - MARGIN.right, height);
    context.clip();
    if (this.kind === "shares") this.#drawShares(context, width, height);
    else this.#drawScores(context, width, height);
    if (time !== undefined) drawLine(context, this.x(time, width), height);
    context.restore();
    if (time !== undefined) this.#showValues(stepAt(this.times, time));
  }

  #drawAxis(context, height) {
    if (this.kind === "shares") {
      this.#label(context, "100%", PAD.top + 6);
      this.#label(context, "0", height - PAD.bottom - 5);
    } else this.components.forEach((_, at) => this.#label(context, String(at + 1), PAD.top + (at + 0.5) * ROW_PX - 1));
  }

  #drawShares(context, width, height) {
    const y = (share) => PAD.top + (1 - share) * (height - PAD.top - PAD.bottom);
    stacked(this.values).forEach(({ lower, upper }, component) => {
      context.fillStyle = colorOf(component);
      for (const [from, to] of runs(upper)) {
        const steps = Array.from({ length: to - from }, (_, i) => from + i);
        context.beginPath();
        for (const i of steps) context.lineTo(this.x(this.times[i], width), y(upper[i]));
        for (const i of steps.toReversed()) context.lineTo(this.x(this.times[i], width), y(lower[i]));
        context.fill();
      }
    });
  }

  #drawScores(context, width) {
    const accent = cssColor("--accent");
    this.values.forEach((row, component) => {
      const top = PAD.top + component * ROW_PX;
      row.forEach((value, i) => {
        if (value === null) return;
        const [from, to] = [this.x(this.times[i], width), this.x(this.times[i + 1] ?? this.stretch.end, width)];
        context.globalAlpha = 0.06 + 0.94 * value;
        context.fillStyle = accent;
        context.fillRect(from, top, Math.max(1, to - from), ROW_PX - 2);
      });
      context.globalAlpha = 1;
    });
  }

  #label(context, text, y) {
    context.fillStyle = cssColor("--text-faint");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(text, MARGIN.left - 6, y);
  }

  #showValues(step) {
    const entries = this.components.map((name, i) => {
      const value = percent(this.values[i][step]);
      return this.kind === "shares" ? swatch(`${words(name)} ${value}`, colorOf(i)) : swatch(`${i + 1} ${words(name)} ${value}`, "transparent");
    });
    this.legend.replaceChildren(...entries);
  }
}

// The playhead, to be seen on any colour.
function drawLine(context, x, height) {
  for (const [color, width] of [["--surface", 3.5], ["--text", 1.5]]) {
    context.strokeStyle = cssColor(color);
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }
}

// Stretches of steps whose values are known, as [from, to).
function runs(values) {
  const found = [];
  values.forEach((value, i) => {
    if (value === null) return;
    if (i && values[i - 1] !== null) found.at(-1)[1] = i + 1;
    else found.push([i, i + 1]);
  });
  return found;
}

// One strip for each attribution in `root`, in the plot's stretch of time; nothing at all when there is none. A page for
// people who may not see them has no root.
export class AttributionPanel {
  constructor(root, player) {
    Object.assign(this, { root, player, strips: [] });
    player.onChange(({ time }) => this.strips.forEach((strip) => strip.draw(time)));
  }

  // `offset`: where the trial's own clock stands at the playhead's zero; `prefix` names one of two trials.
  show(attributions, stretch, { offset = 0, prefix = "" } = {}) {
    if (!this.root) return;
    this.strips = attributions.map(
      (one) => new Strip({ ...one, name: prefix + one.name, times_s: one.times_s.map((time) => time - offset) }, stretch),
    );
    this.root.replaceChildren(...this.strips.map((strip) => strip.figure));
    this.root.hidden = !this.strips.length;
    for (const { canvas } of this.strips) canvas.addEventListener("click", ({ offsetX }) => this.#goTo(canvas, stretch, offsetX));
    for (const strip of this.strips) strip.draw(this.player.time);
  }

  #goTo(canvas, stretch, x) {
    const { start, end } = stretch.at(this.player.time);
    const share = (x - MARGIN.left) / (canvas.clientWidth - MARGIN.left - MARGIN.right);
    this.player.goTo(start + Math.min(1, Math.max(0, share)) * (end - start));
  }
}
