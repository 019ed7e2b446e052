// A recorded trial: every camera on one playhead, joints and commands below it, frame by frame by keyboard.
import { JointPlot, numberedNames } from "./live_plot.js";

const FRAME_S = 1 / 50;
const MAX_DRIFT_S = 0.06;
const root = document.getElementById("playback");
const isTyping = (target) => /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "range";

class Playback {
  constructor(element) {
    this.videos = [...element.querySelectorAll("video")];
    this.lead = this.videos[0];
    [this.seek, this.clock, this.playButton] = ["seek", "clock", "play"].map((id) => document.getElementById(id));
    this.plot = new JointPlot(...["joint-plot", "joint-legend", "joint-group"].map((id) => document.getElementById(id)));
    this.seek.addEventListener("input", () => this.goTo(Number(this.seek.value)));
    this.playButton.addEventListener("click", () => this.toggle());
    document.getElementById("step-back").addEventListener("click", () => this.step(-FRAME_S));
    document.getElementById("step-forward").addEventListener("click", () => this.step(FRAME_S));
    this.lead.addEventListener("loadedmetadata", () => this.ready());
    this.lead.addEventListener("pause", () => this.align());
    this.lead.addEventListener("ended", () => this.pause());
    if (this.lead.readyState >= 1) this.ready();
    document.addEventListener("keydown", (event) => this.onKey(event));
    this.tick();
  }

  ready() {
    this.seek.max = this.lead.duration;
    const wanted = Number(new URLSearchParams(location.search).get("t"));
    if (wanted > 0) this.goTo(wanted);
  }

  async loadSeries(url) {
    const answer = await fetch(url);
    if (!answer.ok) return;
    const series = await answer.json();
    this.plot.setNames(series.names.length ? series.names : numberedNames(series.state.length));
    this.plot.show({ times: series.times_s, lines: series.state, dashed: series.action });
    this.plot.redraw();
  }

  goTo(time) {
    const target = Math.min(Math.max(0, time), this.lead.duration || time);
    for (const video of this.videos) video.currentTime = target;
    this.show(target);
  }

  step(seconds) {
    this.pause();
    this.goTo(this.lead.currentTime + seconds);
  }

  toggle() {
    if (this.lead.paused) for (const video of this.videos) video.play();
    else this.pause();
  }

  pause() {
    for (const video of this.videos) video.pause();
  }

  align() {
    for (const video of this.videos.slice(1)) {
      if (Math.abs(video.currentTime - this.lead.currentTime) > MAX_DRIFT_S) video.currentTime = this.lead.currentTime;
    }
  }

  tick() {
    if (!this.lead.paused) {
      this.align();
      this.show(this.lead.currentTime);
    }
    requestAnimationFrame(() => this.tick());
  }

  show(time) {
    this.seek.value = time;
    this.clock.textContent = `${time.toFixed(2)} s`;
    this.plot.draw(time);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const actions = {
      " ": () => this.toggle(),
      ",": () => this.step(-FRAME_S),
      ".": () => this.step(FRAME_S),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

if (root) new Playback(root).loadSeries(root.dataset.series);
