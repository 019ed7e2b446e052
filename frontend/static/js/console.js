// The operator console: next trial, start, watch, score, undo. Everything works by keyboard (a foot pedal is a key) and
// by touch; what was decided waits in the outbox until the lab has it.
import { LiveFeed, showRate } from "./live_feed.js";
import { Outbox, messageOf, post } from "./console_queue.js";
import * as panels from "./console_panel.js";

const POLL_MS = 4000;
const root = document.getElementById("console").dataset;
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const byId = (id) => document.getElementById(id);

class Console {
  constructor() {
    this.state = read("console-state");
    this.choices = read("console-choices");
    this.checklist = read("console-checklist");
    this.waiting = [];
    this.draft = emptyDraft();
    this.session = JSON.parse(sessionStorage.getItem(this.sessionKey) ?? "null");
    this.outbox = new Outbox(this.state.study.slug);
    this.feed = new LiveFeed(root.cell);
    this.clockOffset = Date.parse(this.state.now) - Date.now();
    this.listen();
    this.outbox.flush();
    setInterval(() => this.tick(), 100);
    setInterval(() => this.refresh(), POLL_MS);
    this.render();
  }

  get sessionKey() {
    return `session ${read("console-state").study.slug}`;
  }

  get step() {
    const { state } = this;
    if (state.study.status !== "locked") return "closed";
    if (state.trial) return this.isDecided(state.trial) ? "sending" : state.trial.status === "running" ? "running" : "score";
    if (!state.next) return "done";
    return this.session ? "next" : "checklist";
  }

  isDecided(trial) {
    return this.waiting.some((entry) => entry.trial === trial.id && entry.kind !== "undo");
  }

  listen() {
    const { feed, outbox } = this;
    showRate(feed, byId("live-rate"));
    feed.addEventListener("link", ({ detail }) => this.onLink(detail.isUp));
    feed.addEventListener("agent", ({ detail }) => this.onAgent(detail));
    feed.addEventListener("changed", ({ detail }) => detail.study === this.state.study.slug && this.refresh());
    feed.addEventListener("trial", ({ detail }) => this.onTrial(detail));
    feed.addEventListener("stop", ({ detail }) => this.onStop(detail.is_pressed, detail.by));
    outbox.addEventListener("waiting", ({ detail }) => this.onWaiting(detail.entries));
    outbox.addEventListener("refused", ({ detail }) => this.onRefused(detail.message));
    document.addEventListener("keydown", (event) => this.onKey(event));
    byId("panel").addEventListener("click", (event) => this.onClick(event));
    byId("panel").addEventListener("input", (event) => event.target.id === "note" && (this.draft.note = event.target.value));
    byId("stop").addEventListener("click", () => this.stopRobot());
    byId("release").addEventListener("click", () => this.release());
    byId("invalid-dialog").addEventListener("close", (event) => this.onInvalid(event.target));
    byId("invalid-examples").addEventListener("click", (event) => {
      if (event.target.matches("button")) byId("invalid-reason").value = event.target.textContent;
    });
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.wake());
  }

  // ---- what the lab says
  async refresh() {
    try {
      const answer = await fetch(root.stateUrl, { signal: AbortSignal.timeout(8000) });
      if (!answer.ok) return;
      this.setState(await answer.json());
      this.showLink(this.feed.isUp);
    } catch {
      this.showLink(false);
    }
  }

  setState(state) {
    const trialBefore = this.state.trial?.id;
    this.clockOffset = Date.parse(state.now) - Date.now();
    const isSame = JSON.stringify({ ...state, now: 0 }) === JSON.stringify({ ...this.state, now: 0 });
    if (this.state.next) this.nextBefore = state.next?.id === this.state.next.id ? this.nextBefore : this.state.next;
    this.state = state;
    if (state.trial?.id !== trialBefore) this.draft = emptyDraft();
    if (state.trial?.status !== "running") this.startedLocally = null;
    if (!isSame) this.render();
  }

  onLink(isUp) {
    this.showLink(isUp);
    if (isUp) this.outbox.flush().then(() => this.refresh());
  }

  showLink(isUp) {
    const isChange = this.isUp !== isUp;
    this.isUp = isUp;
    mark("lab-link", isUp ? "good" : "warn", isUp ? "lab" : "lab: no connection");
    this.showWaiting();
    if (isChange && this.step === "next") this.render();
  }

  onAgent({ is_connected: isConnected, state }) {
    const isChange = this.state.agent.is_connected !== isConnected;
    this.state.agent.is_connected = isConnected;
    if (state === "stopped") this.onStop(true, "");
    if (["idle", "busy"].includes(state)) this.onStop(false, "");
    this.showAgent();
    if (isChange) this.render();
  }

  showAgent() {
    const isConnected = this.state.agent.is_connected;
    mark("robot-link", isConnected ? (this.isStopped ? "bad" : "good") : "warn", isConnected ? "robot" : "robot: away");
  }

  onTrial(event) {
    if (event.trial !== this.state.trial?.id) return;
    if (event.kind === "started") this.startedLocally = this.now();
    if (["finished", "failed", "cancelled"].includes(event.kind)) this.refresh();
  }

  onStop(isPressed, by) {
    if (this.isStopped === isPressed) return;
    this.isStopped = isPressed;
    byId("stop-banner").hidden = !isPressed;
    byId("stop-text").textContent = by ? `The robot is stopped: ${by} pressed stop.` : "The robot is stopped.";
    this.showAgent();
    this.render();
  }

  // What was sent counts as under way until the lab's new state is here: an undo must never meet the trial before.
  async onWaiting(entries) {
    if (entries.length < this.waiting.length) await this.refresh();
    const isChange = entries.length !== this.waiting.length;
    this.waiting = entries;
    this.showWaiting();
    if (isChange) this.render();
  }

  showWaiting() {
    const count = this.waiting.length;
    byId("waiting-banner").hidden = this.isUp !== false && count === 0;
    const scores = count === 1 ? "1 decision waits" : `${count} decisions wait`;
    byId("waiting-text").textContent = count
      ? `No connection to the lab: ${scores} on this device and will be sent once it is back.`
      : "No connection to the lab, trying again. What you decide meanwhile is kept on this device.";
  }

  onRefused(message) {
    toast(message, "error");
    this.refresh();
  }

  // ---- what the operator does
  async begin() {
    const boxes = [...document.querySelectorAll("#checks input")];
    const open = boxes.find((box) => !box.checked);
    if (open) return toast(`Still open: ${open.parentElement.textContent}`, "warning");
    const checklist = Object.fromEntries(boxes.map((box) => [box.name, true]));
    const answer = await post(root.sessionUrl, { device_id: deviceId(), checklist }).catch(() => null);
    if (!answer?.ok) return toast(answer ? await messageOf(answer) : "The lab cannot be reached.", "error");
    this.session = await answer.json();
    sessionStorage.setItem(this.sessionKey, JSON.stringify(this.session));
    this.wake();
    return this.render();
  }

  tickNext() {
    const open = [...document.querySelectorAll("#checks input")].find((box) => !box.checked);
    if (open) open.checked = true;
    else this.begin();
  }

  get hindrance() {
    if (this.isStopped) return "The robot is stopped: release the stop first.";
    if (this.waiting.length) return "The last decision is still on its way to the lab.";
    if (!this.state.agent.is_connected) return "The robot's agent is not connected.";
    if (this.isUp === false) return "There is no connection to the lab.";
    return "";
  }

  async start() {
    if (this.isStarting || this.hindrance) return;
    this.isStarting = true;
    this.render();
    const { next } = this.state;
    this.startId = this.startFor === next.id ? this.startId : crypto.randomUUID();
    this.startFor = next.id;
    const answer = await post(root.trialsUrl, { id: this.startId, slot: next.id, session: this.session?.id }).catch(() => null);
    this.isStarting = false;
    if (!answer?.ok) toast(answer ? await messageOf(answer) : "The lab cannot be reached; nothing was started.", "error");
    await this.refresh();
    this.render();
  }

  choose(change) {
    Object.assign(this.draft, change);
    this.render();
  }

  chooseSuccess() {
    this.choose({ is_success: true, failure_mode: "", furthest_stage: "placed" });
  }

  chooseMode(value) {
    const stage = this.draft.is_success === false ? this.draft.furthest_stage : "";
    this.choose({ is_success: false, failure_mode: value, furthest_stage: stage });
  }

  accept() {
    const { proposal } = this.state.trial;
    if (!proposal || proposal.invalid_reason) return;
    const { success, failure_mode, furthest_stage } = proposal;
    this.choose({ is_success: success, failure_mode, furthest_stage: success ? "placed" : furthest_stage });
  }

  confirm() {
    if (!panels.isComplete(this.draft)) return;
    const { trial } = this.state;
    this.decide(trial, "confirm", { ...this.draft });
  }

  undo() {
    const { last } = this.state;
    if (last && !this.waiting.length && Date.parse(last.undo_until) > this.now()) this.decide(last, "undo", {});
  }

  decide(trial, kind, body) {
    const entry = { kind, trial: trial.id, url: `/api/trials/${trial.id}/${kind}/`, body: { ...body, version: trial.version } };
    this.waiting = [...this.waiting, entry];
    this.render();
    this.outbox.add(entry);
  }

  async stopTrial() {
    const { trial } = this.state;
    const answer = await post(`/api/trials/${trial.id}/stop/`, {}).catch(() => null);
    if (!answer?.ok) toast("The lab cannot be reached: use the emergency stop on the rig.", "error");
  }

  invalid() {
    byId("invalid-reason").value = this.state.trial?.proposal?.invalid_reason ?? "";
    byId("invalid-dialog").returnValue = "";
    byId("invalid-dialog").showModal();
    byId("invalid-reason").focus();
  }

  onInvalid(dialog) {
    const reason = byId("invalid-reason").value.trim();
    if (dialog.returnValue !== "invalid" || !reason || !this.state.trial) return;
    this.decide(this.state.trial, "invalidate", { reason });
  }

  stopRobot() {
    const isSent = this.feed.send({ type: "stop", pressed: true });
    if (!isSent) {
      post(`/api/cells/${root.cell}/stop/`, {}).catch(() => toast("The lab cannot be reached: use the emergency stop on the rig!", "error"));
    }
    toast("Stop sent to the robot.", "warning");
  }

  release() {
    if (confirm("Is the cell clear? The robot may move again.")) this.feed.send({ type: "stop", pressed: false });
  }

  // ---- keys and clicks
  onClick(event) {
    const action = event.target.closest("[data-action]")?.dataset.action;
    if (!action) return;
    const [name, value] = action.split(":");
    if (name === "success") this.chooseSuccess();
    else if (name === "mode") this.chooseMode(value);
    else if (name === "stage") this.choose({ furthest_stage: value });
    else this[name]();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.id === "note") return this.onNoteKey(event);
    if (event.key === "Escape") return this.stopRobot();
    const action = this.keys()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) action();
  }

  onNoteKey(event) {
    if (event.key === "Enter") this.confirm();
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
  }

  keys() {
    const undo = { u: () => this.undo() };
    const perStep = {
      checklist: () => ({ " ": () => this.tickNext() }),
      next: () => ({ " ": () => this.start(), ...undo }),
      running: () => ({ Backspace: () => this.stopTrial(), i: () => this.invalid() }),
      score: () => this.scoreKeys(),
      sending: () => ({}),
    };
    return perStep[this.step]?.() ?? (this.step === "done" ? undo : {});
  }

  scoreKeys() {
    const keys = {
      s: () => this.chooseSuccess(),
      a: () => this.accept(),
      i: () => this.invalid(),
      n: () => byId("note").focus(),
      Enter: () => this.confirm(),
    };
    for (const mode of this.choices.failure_modes) keys[mode.key] = () => this.chooseMode(mode.value);
    if (this.draft.is_success === false) {
      for (const stage of this.choices.stages) keys[stage.key] = () => this.choose({ furthest_stage: stage.value });
    }
    return keys;
  }

  // ---- what is shown
  render() {
    const { state } = this;
    const { confirmed, planned } = state.progress;
    byId("progress-bar").style.width = `${planned ? (100 * confirmed) / planned : 0}%`;
    byId("progress-text").textContent = `${confirmed} of ${planned}`;
    this.showAgent();
    const isNoteFocused = document.activeElement?.id === "note";
    const canUndo = state.last && ["next", "done"].includes(this.step) && !this.waiting.length;
    const undo = canUndo ? [panels.undoBar(state.last, this.choices)] : [];
    byId("panel").replaceChildren(...undo, ...this.panel());
    if (isNoteFocused) byId("note")?.focus();
    this.tick();
  }

  panel() {
    const { state } = this;
    const study = () => panels.linkButton(root.studyUrl, "To the study");
    switch (this.step) {
      case "closed": return panels.messagePanel("No trials here", "This study is not locked, or it is finished.", study());
      case "done": return panels.messagePanel("All trials are done", "Every planned trial has been scored. Thank you.", study());
      case "checklist": return panels.checklistPanel(this.checklist);
      case "running": return panels.runningPanel(state.trial);
      case "score": return panels.scorePanel(state.trial, this.choices, this.draft);
      case "sending": return panels.messagePanel("Kept", "Your decision is on its way to the lab.");
      default: {
        const why = this.isStarting ? "Starting…" : this.hindrance;
        return panels.nextPanel(state, { before: this.nextBefore, canStart: !why, why });
      }
    }
  }

  tick() {
    const timer = byId("timer");
    if (timer && this.state.trial) {
      const elapsed = Math.max(0, this.now() - (this.startedLocally ?? Date.parse(this.state.trial.started_at))) / 1000;
      timer.textContent = `${elapsed.toFixed(1)} s`;
      byId("timer-bar").style.width = `${Math.min(100, (100 * elapsed) / this.state.study.time_limit_s)}%`;
    }
    const left = byId("undo-left");
    if (!left || !this.state.last) return;
    const seconds = (Date.parse(this.state.last.undo_until) - this.now()) / 1000;
    left.textContent = `${Math.max(0, seconds).toFixed(0)} s`;
    if (seconds <= 0) {
      this.state.last = null;
      this.render();
    }
  }

  now() {
    return Date.now() + this.clockOffset;
  }

  async wake() {
    try {
      this.lock = await navigator.wakeLock?.request("screen");
    } catch {
      this.lock = null;
    }
  }
}

const emptyDraft = () => ({ is_success: null, failure_mode: "", furthest_stage: "", note: "" });

function deviceId() {
  const known = localStorage.getItem("device") ?? crypto.randomUUID();
  localStorage.setItem("device", known);
  return known;
}

function mark(id, tone, text) {
  byId(id).className = `pill ${tone}`;
  byId(id).textContent = text;
}

function toast(text, tone) {
  const element = Object.assign(document.createElement("div"), { className: `toast ${tone}` });
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "✕", ariaLabel: "Dismiss" });
  close.addEventListener("click", () => element.remove());
  element.append(Object.assign(document.createElement("span"), { textContent: text }), close);
  byId("toasts").append(element);
  setTimeout(() => element.remove(), tone === "error" ? 12000 : 5000);
}

window.labConsole = new Console();
