// Plays recorded trials: any number of videos and plots on one playhead, marks below it, the moment in the address.
// `root` holds videos and the controls of `studies/browser/_controls.html`. Keys: see `actions`.
import { Playhead } from "./playhead.js";

const FPS = 50; // a recording has one row, and each video one frame, per control tick
const ADDRESS_PAUSE_MS = 250;
const JUMP_S = 0.05;
const isTyping = (target) => target.isContentEditable || (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "range");
const isPressable = (target) => /^(BUTTON|A|SUMMARY)$/.test(target.tagName);

export class TrialPlayer {
  constructor(root, offsets = {}) {
    this.root = root;
    this.videos = [...root.querySelectorAll("video")];
    this.playhead = new Playhead(this.videos, 1, FPS);
    this.marks = [];
    this.recorded = [];
    this.offsets = offsets;
    this.wanted = Number(new URLSearchParams(location.search).get("t")) || 0;
    [this.seek, this.clock, this.playButton, this.track] = ["seek", "clock", "play", "marks"].map((id) => document.getElementById(id));
    this.playIcon = this.playButton.querySelector("use").getAttribute("href").replace(/#.*/, "");
    this.#listen();
    for (const video of this.videos) {
      video.addEventListener("loadedmetadata", () => this.measure());
      video.addEventListener("error", () => video.closest("figure").classList.add("broken"));
    }
    this.align(offsets);
  }

  get time() {
    return this.playhead.time;
  }

  // When the frame that is shown begins [s]: what the clock, the address and a note say.
  get frameTime() {
    return Math.max(0, this.playhead.row) / FPS;
  }

  onChange(listener) {
    this.playhead.onChange(listener);
  }

  // Draw everything that follows the playhead anew, where it stands.
  showAgain() {
    this.playhead.seek(this.time);
  }

  goTo(time) {
    this.wanted = 0;
    this.playhead.pause();
    this.playhead.seek(time);
  }

  // How long a recording's table runs [s]; of the comparison, one for each side. A trial may have no video.
  setRecorded(recorded) {
    this.recorded = recorded;
    this.measure();
  }

  // How long the playhead runs: until the last video or table ends. The moment of the address waits for it.
  measure() {
    const ends = this.playhead.videos.filter(({ element }) => element.duration).map(({ element, from }) => element.duration - from);
    for (const { duration, side } of this.recorded) ends.push(duration - (this.offsets[side] ?? 0));
    if (!ends.length) return;
    this.playhead.duration = Math.max(...ends);
    this.seek.max = this.playhead.duration;
    this.playhead.seek(this.wanted || this.time);
    if (this.videos.every((video) => video.duration || video.error)) this.wanted = 0;
    this.showMarks(this.marks);
  }

  // Where each video's own clock stands at the playhead's zero: {a: 0, b: -1.2} by the video's `data-side`.
  align(offsets) {
    this.offsets = offsets;
    for (const video of this.playhead.videos) video.from = offsets[video.element.dataset.side] ?? 0;
    this.measure();
  }

  // Marks: {time, label, tone}. They lie on a track under the slider and are reached by `[` and `]`.
  showMarks(marks) {
    this.marks = marks.toSorted((one, other) => one.time - other.time);
    const buttons = this.marks.filter((mark) => mark.time >= 0 && mark.time <= this.playhead.duration).map((mark) => this.#mark(mark));
    this.track?.replaceChildren(...buttons);
  }

  #mark({ time, label, tone }) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `timeline-mark ${tone}`;
    button.style.setProperty("--at", time / this.playhead.duration);
    button.title = `${time.toFixed(2)} s: ${label}`;
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => this.goTo(time));
    return button;
  }

  jump(direction) {
    const times = this.marks.map((mark) => mark.time);
    const target = direction > 0 ? times.find((time) => time > this.time + JUMP_S) : times.findLast((time) => time < this.time - JUMP_S);
    if (target !== undefined) this.goTo(target);
  }

  followPlot(plot) {
    plot.canvas.addEventListener("click", (event) => {
      const time = plot.timeAt(event.offsetX);
      if (time !== null) this.goTo(time);
    });
    this.onChange(({ time }) => plot.draw(time));
  }

  #listen() {
    this.playhead.onChange(({ time, playing }) => this.#show(time, playing));
    this.playButton.addEventListener("click", () => this.playhead.toggle());
    this.seek.addEventListener("input", () => this.goTo(Number(this.seek.value)));
    document.getElementById("step-back").addEventListener("click", () => this.playhead.step(-1));
    document.getElementById("step-forward").addEventListener("click", () => this.playhead.step(1));
    document.getElementById("rate")?.addEventListener("change", (event) => this.playhead.setRate(Number(event.target.value)));
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  #show(time, playing) {
    this.seek.value = time;
    this.clock.textContent = `${this.frameTime.toFixed(2)} s`;
    this.clock.title = `frame ${this.playhead.row}`;
    this.playButton.querySelector("use").setAttribute("href", `${this.playIcon}#${playing ? "pause" : "play"}`);
    clearTimeout(this.writing);
    if (!playing) this.writing = setTimeout(() => this.#writeAddress(this.frameTime), ADDRESS_PAUSE_MS);
  }

  #writeAddress(time) {
    const address = new URL(location.href);
    if (time > 0.5 / FPS) address.searchParams.set("t", time.toFixed(2));
    else if (!this.wanted) address.searchParams.delete("t");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }

  get actions() {
    const { playhead } = this;
    return {
      " ": () => playhead.toggle(),
      ",": () => playhead.step(-1),
      ".": () => playhead.step(1),
      ArrowLeft: () => playhead.step(-FPS),
      ArrowRight: () => playhead.step(FPS),
      "[": () => this.jump(-1),
      "]": () => this.jump(1),
    };
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === " " && isPressable(event.target)) return;
    const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
    const action = this.actions[event.key] ?? (link && (() => link.click()));
    if (!action) return;
    event.preventDefault();
    action();
  }
}
