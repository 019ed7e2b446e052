// The stages of a trial as a strip over its plot: each piece goes to its beginning, the one under the playhead is lit.
import { stretches } from "./series.js";

export class StageStrip {
  constructor(root, player, prefix = "") {
    Object.assign(this, { root, player, prefix, pieces: [] });
    player.onChange(({ time }) => this.#place(time));
  }

  // `stretch` is the plot's stretch of time, `offset` where the trial's own clock stands at the playhead's zero,
  // `duration` how long the trial itself went on.
  show(events, stretch, { offset = 0, duration = Infinity } = {}) {
    this.stretch = stretch;
    const moved = events.map((event) => ({ ...event, time_s: event.time_s - offset }));
    this.pieces = stretches(moved, Math.min(stretch.end, duration - offset)).map((piece, number) => ({ ...piece, button: this.#button(piece, number) }));
    this.root.hidden = !this.pieces.length;
    this.root.replaceChildren(...this.pieces.map(({ button }) => button));
    this.#place(this.player.time);
  }

  #button({ label, from, to }, number) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = `${this.prefix}${label}: ${from.toFixed(2)} s to ${to.toFixed(2)} s`;
    button.setAttribute("aria-label", button.title);
    button.style.setProperty("--depth", number);
    button.addEventListener("click", () => this.player.goTo(from));
    return button;
  }

  #place(time) {
    if (!this.pieces.length) return;
    const { start, end } = this.stretch.at(time);
    const share = (moment) => Math.min(1, Math.max(0, (moment - start) / (end - start || 1)));
    for (const { button, from, to } of this.pieces) {
      button.style.setProperty("--from", share(from));
      button.style.setProperty("--to", share(to));
      button.hidden = share(to) - share(from) <= 0;
      button.toggleAttribute("data-now", time >= from - 1e-6 && time < to - 1e-6);
    }
  }
}
