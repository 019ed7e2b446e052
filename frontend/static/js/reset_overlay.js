// The console's reset overlay: how the cell should look, laid over the live head camera, with a score; and whether the
// rig moved since the session's picture. Everything is computed here, from small grey copies.
import * as align from "./alignment.js";
import { byId, toast } from "./console_page.js";
import { csrfToken, messageOf } from "./console_queue.js";

const PAUSE_MS = 700;
const MODES = ["off", "over", "difference", "beside"];
const root = byId("reset-overlay");

async function pictureOf(url, kind) {
  const element = document.createElement(kind === "trial" ? "video" : "img");
  const isThere = new Promise((resolve, reject) => {
    element.addEventListener(kind === "trial" ? "loadeddata" : "load", resolve, { once: true });
    element.addEventListener("error", () => reject(new Error("The reference cannot be shown.")), { once: true });
  });
  Object.assign(element, { muted: true, preload: "auto", src: url });
  await isThere;
  const canvas = document.createElement("canvas");
  canvas.width = element.videoWidth || element.naturalWidth;
  canvas.height = element.videoHeight || element.naturalHeight;
  canvas.getContext("2d").drawImage(element, 0, 0);
  return canvas;
}

function greyOf(canvas) {
  const small = new OffscreenCanvas(align.SIZE, align.SIZE).getContext("2d", { willReadFrequently: true });
  small.drawImage(canvas, 0, 0, align.SIZE, align.SIZE);
  return align.grey(small.getImageData(0, 0, align.SIZE, align.SIZE).data);
}

class ResetOverlay {
  constructor(lab) {
    this.lab = lab;
    this.figure = document.querySelector('.live-view[data-camera="0"]');
    this.live = this.figure.querySelector("canvas");
    this.overlay = Object.assign(document.createElement("canvas"), { className: "overlay-picture", hidden: true });
    this.figure.append(this.overlay);
    this.mode = "off";
    root.addEventListener("click", (event) => event.target.dataset.mode && this.choose(event.target.dataset.mode));
    byId("overlay-alpha").addEventListener("input", () => this.show());
    byId("rig-again").addEventListener("click", () => this.takeRigPicture());
    document.addEventListener("keydown", (event) => this.onKey(event));
    setInterval(() => this.tick(), PAUSE_MS);
    this.tick();
  }

  get isLive() {
    return this.live.width > 4 && !this.figure.classList.contains("stale") && !this.figure.querySelector(".no-picture");
  }

  get isWanted() {
    return ["next", "checklist"].includes(this.lab.step);
  }

  onKey(event) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== "o" || !isPlain || !this.isWanted || document.querySelector("dialog[open]")) return;
    this.choose(MODES[(MODES.indexOf(this.mode) + 1) % MODES.length]);
  }

  choose(mode) {
    this.mode = mode;
    this.show();
  }

  async tick() {
    root.hidden = !this.isWanted;
    this.show();
    if (!this.isWanted || document.visibilityState !== "visible") return;
    if (!this.lab.link.isUp) {
      this.key = ""; // asked anew once the lab can be reached
      return;
    }
    const key = `${this.lab.state.next?.id} ${this.lab.session?.id ?? ""}`;
    if (key !== this.key) {
      this.key = key;
      await this.load().catch((error) => (byId("overlay-words").textContent = error.message));
    }
    if (this.isLive) this.measure();
  }

  async load() {
    Object.assign(this, { reference: null, rig: null, facts: null });
    const answer = await fetch(root.dataset.url);
    if (!answer.ok) throw new Error(`No reference: ${await messageOf(answer)}`);
    this.facts = await answer.json();
    const { reference, rig } = this.facts;
    if (rig) this.rig = greyOf(await pictureOf(rig.url, "rig"));
    if (reference) {
      const picture = await pictureOf(reference.url, reference.kind);
      [this.overlay.width, this.overlay.height] = [picture.width, picture.height];
      this.overlay.getContext("2d").drawImage(picture, 0, 0);
      this.reference = greyOf(picture);
    }
    byId("overlay-words").textContent = reference?.words ?? "No reference yet: the first trial of this block becomes it.";
    this.show();
  }

  measure() {
    if (this.needsRigPicture) this.takeRigPicture();
    const live = greyOf(this.live);
    this.showScore(live);
    this.showDrift(live);
  }

  // A session's first act: the empty rig as its camera sees it. Refused after the first trial, so it is asked once.
  get needsRigPicture() {
    const { session } = this.lab;
    return session && this.facts && !this.facts.rig?.is_of_session && this.askedFor !== session.id && this.lab.step === "next";
  }

  async takeRigPicture() {
    const { session } = this.lab;
    if (!session || !this.isLive) return;
    const isAgain = this.askedFor === session.id;
    this.askedFor = session.id;
    const blob = await new Promise((resolve) => this.live.toBlob(resolve, "image/jpeg", 0.9));
    const body = new FormData();
    body.append("picture", blob, "rig.jpg");
    const url = root.dataset.rigUrl.replace("/0/", `/${session.id}/`);
    const answer = await fetch(url, { method: "POST", headers: { "X-CSRFToken": csrfToken() }, body });
    if (answer.ok) this.key = "";
    else if (isAgain) toast(await messageOf(answer), "error");
  }

  showScore(live) {
    const pill = byId("overlay-score");
    pill.hidden = !this.reference || this.facts.reference.kind !== "trial";
    if (pill.hidden) return;
    const found = align.alignment(this.reference, live, this.rig);
    pill.className = `pill ${align.toneOf(found.score)}`;
    pill.textContent = `match ${(100 * found.score).toFixed(0)}%`;
    pill.title = `Normalised cross-correlation of ${found.of}`;
    byId("overlay-shift").textContent = align.shiftWords(found);
  }

  showDrift(live) {
    const pill = byId("rig-drift");
    pill.hidden = !this.rig;
    if (!this.rig) return;
    const found = align.drift(this.rig, live);
    pill.className = `pill ${found.tone}`;
    pill.textContent = found.isMoved ? `rig moved: ${align.shiftWords(found)}` : `rig steady ${(100 * found.score).toFixed(0)}%`;
    const since = this.facts.rig.is_of_session ? "this session's picture" : "the study's first picture";
    pill.title = `The head camera against ${since} of the rig`;
  }

  show() {
    const isShown = this.isWanted && this.mode !== "off" && Boolean(this.reference);
    this.overlay.hidden = !isShown;
    this.figure.classList.toggle("beside", isShown && this.mode === "beside");
    this.overlay.style.mixBlendMode = this.mode === "difference" ? "difference" : "normal";
    this.overlay.style.opacity = this.mode === "over" ? byId("overlay-alpha").value : 1;
    byId("overlay-alpha").hidden = this.mode !== "over";
    byId("rig-again").hidden = !this.lab.session;
    for (const button of root.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === this.mode));
  }
}

window.resetOverlay = new ResetOverlay(window.labConsole);
