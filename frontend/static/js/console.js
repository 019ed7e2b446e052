// The operator console: next trial, start, watch, score, undo. Everything works by keyboard (a foot pedal is a key) and
// by touch; what was decided waits in the outbox until the lab has it.
import { LiveFeed, showRate } from "./live_feed.js";
import { Outbox, messageOf, post, postSession } from "./console_queue.js";
import * as panels from "./console_panel.js";
import { InvalidDialog } from "./console_invalid.js";
import { keysOf } from "./console_keys.js";
import { byId, deviceId, keepScreenOn, mark, read, toast, uuid } from "./console_page.js";
import { StopSwitch } from "./console_stop.js";

const POLL_MS = 4000;
const root = byId("console").dataset;

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
    this.stop = new StopSwitch(this.feed, root.cell);
    this.dialog = new InvalidDialog((reason) => this.state.trial && this.decide(this.state.trial, "invalidate", { reason }));
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
    this.stop.addEventListener("change", () => this.render());
    outbox.addEventListener("waiting", ({ detail }) => this.onWaiting(detail.entries));
    outbox.addEventListener("refused", ({ detail }) => this.onRefused(detail.message));
    document.addEventListener("keydown", (event) => this.onKey(event));
    byId("panel").addEventListener("click", (event) => this.onClick(event));
    byId("panel").addEventListener("input", (event) => event.target.id === "note" && (this.draft.note = event.target.value));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && keepScreenOn());
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
    const isNewer = this.session && Date.parse(state.now) > Date.parse(this.session.started_at);
    if (isNewer && state.session?.id !== this.session.id) this.forgetSession();
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
    this.stop.followState(state);
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

  get isStopped() {
    return this.stop.isPressed;
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
    const answer = await postSession(root.sessionUrl, { device_id: deviceId(), checklist }).catch(() => null);
    if (!answer?.ok) return toast(answer ? await messageOf(answer) : "The lab cannot be reached.", "error");
    this.session = await answer.json();
    sessionStorage.setItem(this.sessionKey, JSON.stringify(this.session));
    keepScreenOn();
    await this.refresh();
    return this.render();
  }

  async endSession() {
    const answer = await post(root.sessionUrl, { device_id: deviceId() }, "DELETE").catch(() => null);
    if (!answer?.ok) return toast(answer ? await messageOf(answer) : "The lab cannot be reached.", "error");
    return this.refresh();
  }

  // A session that was ended, here or by somebody who took over, is none any more.
  forgetSession() {
    this.session = null;
    sessionStorage.removeItem(this.sessionKey);
    this.render();
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
    this.startId = this.startFor === next.id ? this.startId : uuid();
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
    this.dialog.ask(this.state.trial?.proposal?.invalid_reason ?? "");
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
    if (event.key === "Escape") return this.stop.press();
    const action = keysOf(this)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) action();
  }

  onNoteKey(event) {
    if (event.key === "Enter") this.confirm();
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
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
    const ticked = [...document.querySelectorAll("#checks input:checked")].map((box) => box.name);
    byId("panel").replaceChildren(...undo, ...panels.panelOf(this, root.studyUrl));
    for (const name of ticked) document.querySelector(`#checks [name=${name}]`)?.setAttribute("checked", "");
    if (isNoteFocused) byId("note")?.focus();
    this.tick();
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
}

const emptyDraft = () => ({ is_success: null, failure_mode: "", furthest_stage: "", note: "" });

window.labConsole = new Console();
