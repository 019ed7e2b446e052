// One playhead for any number of videos and listeners. Time is in seconds of the episode; each video knows its part.
const DRIFT_S = 0.08;

export class Playhead {
  constructor(videos, length, fps) {
    this.videos = videos.map((element) => ({ element, from: Number(element.dataset.from) || 0 }));
    this.fps = fps;
    this.duration = length / fps;
    this.time = 0;
    this.rate = 1;
    this.playing = false;
    this.listeners = new Set();
    this.last = 0;
  }

  onChange(listener) {
    this.listeners.add(listener);
    listener(this);
  }

  get row() {
    return Math.min(Math.floor(this.time * this.fps + 1e-6), Math.round(this.duration * this.fps) - 1);
  }

  seek(time) {
    this.time = Math.min(Math.max(0, time), this.duration - 0.5 / this.fps);
    for (const video of this.videos) this.#place(video);
    this.#tell();
  }

  step(rows) {
    this.pause();
    this.seek((this.row + rows + 0.5) / this.fps);
  }

  setRate(rate) {
    this.rate = rate;
    for (const { element } of this.videos) element.playbackRate = rate;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.duration - 1 / this.fps) this.seek(0);
    this.playing = true;
    this.last = performance.now();
    for (const { element } of this.videos) element.play().catch(() => {});
    requestAnimationFrame((now) => this.#tick(now));
    this.#tell();
  }

  pause() {
    this.playing = false;
    for (const { element } of this.videos) element.pause();
    this.#tell();
  }

  #tick(now) {
    if (!this.playing) return;
    this.time += ((now - this.last) / 1000) * this.rate;
    this.last = now;
    if (this.time >= this.duration) {
      this.time = this.duration - 0.5 / this.fps;
      this.pause();
      return;
    }
    for (const video of this.videos) this.#follow(video);
    this.#tell();
    requestAnimationFrame((next) => this.#tick(next));
  }

  // A video that has not begun, or is over, stands still; any other one plays and is put right when it drifts.
  #follow(video) {
    const { element, from } = video;
    const wanted = from + this.time;
    if (wanted < 0 || wanted >= element.duration) {
      if (element.paused) return;
      element.pause();
      this.#place(video);
      return;
    }
    if (element.paused) element.play().catch(() => {});
    if (Math.abs(element.currentTime - wanted) > DRIFT_S * this.rate) this.#place(video);
  }

  #place({ element, from }) {
    if (element.readyState > 0) element.currentTime = Math.max(0, from + this.time);
  }

  #tell() {
    for (const listener of this.listeners) listener(this);
  }
}
