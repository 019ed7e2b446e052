// One playhead for any number of videos and listeners. Time is in seconds of the episode; each video knows its part.
const NUDGE_S = 0.01; // a video this far off plays a little faster or slower until it is right again
const DRIFT_S = 0.12; // further off, it jumps
const MOST_NUDGE = 0.12;

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
    this.seek((this.row + rows) / this.fps);
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

  // Every video then shows the frame of the playhead, however they drifted while they played.
  pause() {
    const wasPlaying = this.playing;
    this.playing = false;
    for (const { element } of this.videos) element.pause();
    if (wasPlaying) this.seek(this.time);
    else this.#tell();
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
    const late = wanted - element.currentTime;
    if (Math.abs(late) > DRIFT_S * this.rate) this.#place(video);
    const nudge = Math.abs(late) > NUDGE_S ? Math.max(-MOST_NUDGE, Math.min(MOST_NUDGE, 2 * late)) : 0;
    element.playbackRate = this.rate * (1 + nudge);
  }

  // The middle of the frame that is shown at this time: at its edge, rounding would decide between two.
  #place({ element, from }) {
    if (element.readyState === 0) return;
    const frame = Math.floor((from + this.time) * this.fps + 1e-6);
    element.currentTime = Math.max(0, (frame + 0.5) / this.fps);
  }

  #tell() {
    for (const listener of this.listeners) listener(this);
  }
}
