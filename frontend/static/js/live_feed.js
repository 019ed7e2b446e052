// The socket of a cell: newest camera frames onto canvases, events to a listener. A frame is acknowledged once it is
// painted; the server sends no further ones before, so a slow page sees fewer frames, never late ones.
const HEADER_BYTES = 13;
const STALE_MS = 3000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8000;

export class LiveFeed extends EventTarget {
  constructor(cell, now = Date.now) {
    super();
    this.cell = cell;
    this.now = now; // the lab's time where the page knows it: a browser's own may be wrong
    this.views = new Map();
    this.dropped = 0;
    this.droppedBefore = 0;
    this.isUp = false;
    this.pause = FIRST_PAUSE_MS;
    for (const figure of document.querySelectorAll("[data-camera]")) {
      this.views.set(Number(figure.dataset.camera), { figure, canvas: figure.querySelector("canvas"), shown: 0, count: 0 });
    }
    this.connect();
    addEventListener("online", () => this.connect());
    setInterval(() => this.markStale(), 1000);
  }

  connect() {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws/live/${this.cell}/`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.changeLink(true);
    this.socket.onclose = () => this.retry();
    this.socket.onmessage = (message) => {
      if (typeof message.data === "string") this.onEvent(JSON.parse(message.data));
      else this.onFrame(message.data);
    };
  }

  retry() {
    this.changeLink(false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(LONGEST_PAUSE_MS, this.pause * 2);
  }

  changeLink(isUp) {
    if (isUp) {
      this.pause = FIRST_PAUSE_MS;
      this.droppedBefore += this.dropped;
      this.dropped = 0;
    }
    if (isUp === this.isUp) return;
    this.isUp = isUp;
    this.dispatchEvent(new CustomEvent("link", { detail: { isUp } }));
  }

  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  onEvent(event) {
    if (event.type === "joints") this.send({ type: "ack", camera: 255 });
    this.dispatchEvent(new CustomEvent(event.type, { detail: event }));
  }

  async onFrame(buffer) {
    const header = new DataView(buffer);
    const camera = header.getUint8(0);
    this.dropped = header.getUint32(9);
    const view = this.views.get(camera);
    try {
      if (view && document.visibilityState === "visible") {
        await paint(view.canvas, new Blob([new Uint8Array(buffer, HEADER_BYTES)], { type: "image/jpeg" }));
        this.markShown(view, Number(header.getBigUint64(1) / 1000000n));
      }
    } finally {
      this.send({ type: "ack", camera });
    }
  }

  markShown(view, takenMs) {
    view.shown = performance.now();
    view.count += 1;
    view.figure.classList.remove("stale");
    view.figure.querySelector(".no-picture")?.remove();
    const age = view.figure.querySelector(".age");
    if (age) age.textContent = ageOf(this.now() - takenMs);
  }

  markStale() {
    let frames = 0;
    for (const view of this.views.values()) {
      if (view.shown && performance.now() - view.shown > STALE_MS) view.figure.classList.add("stale");
      frames += view.count;
      view.count = 0;
    }
    const rate = this.views.size ? frames / this.views.size : 0;
    this.dispatchEvent(new CustomEvent("rate", { detail: { rate, dropped: this.droppedBefore + this.dropped } }));
  }
}

// A camera's clock may be wrong too: then no number is better than a wrong one.
const ageOf = (ms) => (ms < -1000 || ms > 60000 ? "" : `${Math.max(0, ms).toFixed(0)} ms`);

async function paint(canvas, blob) {
  const picture = await createImageBitmap(blob);
  if (canvas.width !== picture.width) canvas.width = picture.width;
  if (canvas.height !== picture.height) canvas.height = picture.height;
  canvas.getContext("2d").drawImage(picture, 0, 0);
  picture.close();
}

export function showRate(feed, element) {
  feed.addEventListener("rate", ({ detail }) => {
    element.textContent = `${detail.rate.toFixed(1)} pictures a second · ${detail.dropped} dropped`;
  });
}
