// The stages of a trial as a strip over its plot: each stretch goes to its beginning, the one under the playhead is lit.
import { stretches } from "./series.js";

export class StageStrip {
  constructor(root, player, prefix = "") {
    this.root = root;
    this.player = player;
    this.prefix = prefix;
    this.shown = [];
    player.onChange(({ time }) => this.#light(time));
  }

  // `range` is the plot's stretch of time {start, end}, `offset` where the trial's own clock stands at the playhead's zero.
  show(events, range, offset = 0) {
    const moved = events.map((event) => ({ ...event, time_s: event.time_s - offset }));
    this.shown = stretches(moved, range.end).map((stretch, number) => ({ ...stretch, button: this.#button(stretch, number, range) }));
    this.root.hidden = !this.shown.length;
    this.root.replaceChildren(...this.shown.map(({ button }) => button));
    this.#light(this.player.time);
  }

  #button({ label, from, to }, number, { start, end }) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = `${this.prefix}${label}: ${from.toFixed(2)} s to ${to.toFixed(2)} s`;
    button.setAttribute("aria-label", button.title);
    button.style.setProperty("--from", (from - start) / (end - start || 1));
    button.style.setProperty("--to", (to - start) / (end - start || 1));
    button.style.setProperty("--depth", number);
    button.addEventListener("click", () => this.player.goTo(from));
    return button;
  }

  #light(time) {
    for (const { button, from, to } of this.shown) button.toggleAttribute("data-now", time >= from - 1e-6 && time < to - 1e-6);
  }
}
