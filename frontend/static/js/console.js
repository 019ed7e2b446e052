// The operator console: next trial, start, watch, score, undo. Everything works by keyboard (a foot pedal is a key) and
// by touch; what was decided waits in the outbox until the lab has it.
import { LiveFeed, showRate } from "./live_feed.js";
import { Outbox, messageOf, post } from "./console_queue.js";
import * as panels from "./console_panel.js";
import { InvalidSheet } from "./console_sheets.js";
import { showCountdowns } from "./console_countdowns.js";
import { Draft } from "./console_draft.js";
import { Pedals, listenToKeys } from "./console_keys.js";
import { Keeper } from "./console_kept.js";
import { LabLink } from "./console_link.js";
import { LabClock, byId, keepScreenOn, mark, read, toast, uuid } from "./console_page.js";
import { RigSession } from "./console_session.js";
import { hindranceOf, latenessOf, stepOf } from "./console_steps.js";
import { StopSwitch, endTrial } from "./console_stop.js";

const POLL_MS = 4000;
const OTHER_PERSON = 412;
const root = byId("console").dataset;

class Console {
  constructor() {
    this.keeper = new Keeper(root);
    const { state, isStopped, ageMs } = this.keeper.recall(read("console-state"));
    this.state = state;
    this.choices = read("console-choices");
    this.checklist = read("console-checklist");
    this.waiting = [];
    this.scoring = new Draft(this.state.trial, root.user);
    this.clock = new LabClock();
    this.clock.set(state.now, ageMs);
    this.link = new LabLink(root, !this.keeper.isFromDevice);
    this.rig = new RigSession(root.sessionUrl, root.user);
    this.rig.follow(this.state.session);
    this.outbox = new Outbox(this.state.study.slug, root.user);
    this.feed = new LiveFeed(root.cell, () => this.clock.now());
    this.stop = new StopSwitch(this.feed, root.cell);
    this.pedals = new Pedals();
    this.sheet = new InvalidSheet((reason) => this.state.trial && this.decide(this.state.trial, "invalidate", { reason }));
    this.listen();
    this.stop.recall(isStopped);
    this.outbox.flush();
    setInterval(() => this.tick(), 100);
    setInterval(() => this.refresh(), POLL_MS);
    if (this.session) keepScreenOn();
    this.keep();
    if (this.link.isUp) this.keeper.keepPage();
    else this.refresh();
    this.render();
  }

  get session() {
    return this.rig.held;
  }

  get step() {
    return stepOf(this);
  }

  listen() {
    const { feed, outbox } = this;
    showRate(feed, byId("live-rate"));
    feed.addEventListener("link", ({ detail }) => this.onFeed(detail.isUp));
    feed.addEventListener("agent", ({ detail }) => this.onAgent(detail));
    feed.addEventListener("changed", ({ detail }) => detail.study === this.state.study.slug && this.refresh());
    feed.addEventListener("trial", ({ detail }) => this.onTrial(detail));
    this.link.addEventListener("change", () => this.onLink());
    this.stop.addEventListener("change", () => this.onStop());
    outbox.addEventListener("waiting", ({ detail }) => this.onWaiting(detail.entries));
    outbox.addEventListener("refused", ({ detail }) => this.onRefused(detail.message));
    outbox.addEventListener("held", ({ detail }) => (detail.status === OTHER_PERSON ? this.refresh() : this.link.refuse(detail.status)));
    outbox.addEventListener("unsafe", () => toast("This browser keeps nothing: do not close this page before everything is sent.", "error"));
    listenToKeys(this);
    byId("panel").addEventListener("click", (event) => this.onClick(event));
    byId("panel").addEventListener("input", (event) => event.target.id === "note" && this.scoring.set({ note: event.target.value }));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && keepScreenOn());
  }

  // ---- what the lab says
  async refresh() {
    const state = await this.link.fetch();
    if (state) this.setState(state);
    if (state && this.waiting.length) this.outbox.flush();
  }

  setState(state) {
    const trialBefore = this.state.trial?.id;
    this.clock.set(state.now);
    const isSame = JSON.stringify({ ...state, now: 0 }) === JSON.stringify({ ...this.state, now: 0 });
    if (this.state.next) this.nextBefore = state.next?.id === this.state.next.id ? this.nextBefore : this.state.next;
    this.state = state;
    this.keep();
    if (state.trial?.id !== trialBefore) this.scoring = new Draft(state.trial, root.user);
    if (state.trial?.status !== "running") this.startedLocally = null;
    if (state.last) this.scored = state.last;
    const isMoved = this.rig.follow(state.session);
    if (!isSame || isMoved) this.render();
  }

  // What is shown, for a page that is loaded again during a cut; never while the lab cannot be asked.
  keep() {
    this.link.asOf = this.state.now;
    if (!this.link.isUp || this.link.trouble) return;
    if (this.keeper.isForgotten) this.keeper.keepPage();
    this.keeper.keepState(this.state, this.stop.isPressed);
  }

  onLink() {
    if (this.link.isOver) this.keeper.forget();
    else if (this.link.isUp && !this.link.trouble && !this.keeper.isKept) this.keeper.keepPage();
    this.render();
  }

  onStop() {
    this.keep();
    this.render();
  }

  onFeed(isUp) {
    this.stop.showReach(this.link.isUp);
    if (isUp) this.outbox.flush().then(() => this.refresh());
    else this.refresh();
  }

  onAgent({ is_connected: isConnected, state }) {
    const isChange = this.state.agent.is_connected !== isConnected;
    this.state.agent.is_connected = isConnected;
    this.stop.followState(state);
    this.showAgent();
    if (isChange) this.render();
  }

  showAgent() {
    this.stop.showReach(this.link.isUp);
    if (!this.link.isUp) return mark("robot-link", "warn", "robot?");
    const isConnected = this.state.agent.is_connected;
    mark("robot-link", isConnected ? (this.stop.isPressed ? "bad" : "good") : "warn", isConnected ? "robot" : "robot: away");
    return undefined;
  }

  onTrial(event) {
    if (event.trial !== this.state.trial?.id) return;
    if (event.kind === "started") this.startedLocally = this.clock.now();
    if (["finished", "failed", "cancelled"].includes(event.kind)) this.refresh();
  }

  // What was sent counts as under way until the lab's new state is here: an undo must never meet the trial before.
  // What somebody else left here is only told: it may wait for days, and keeps nobody from going on.
  async onWaiting(entries) {
    const mine = entries.filter((entry) => this.outbox.isMine(entry));
    if (mine.length < this.waiting.length) await this.refresh();
    const isChange = mine.length !== this.waiting.length;
    this.waiting = mine;
    this.link.showWaiting(entries);
    if (isChange) this.render();
  }

  onRefused(message) {
    toast(`Your decision was not taken: ${message}`, "error");
    this.refresh();
  }

  // ---- what the operator does
  async begin() {
    const boxes = [...document.querySelectorAll("#checks input")];
    const open = boxes.find((box) => !box.checked);
    if (open) return toast(`Still open: ${open.parentElement.textContent}`, "warning");
    if (!(await this.rig.begin(Object.fromEntries(boxes.map((box) => [box.name, true]))))) return undefined;
    keepScreenOn();
    return this.refresh();
  }

  async endSession() {
    if (await this.rig.end()) await this.refresh();
  }

  tickNext() {
    const open = document.querySelector("#checks input:not(:checked)");
    if (open) open.checked = true;
    else this.begin();
  }

  async start() {
    if (this.isStarting || hindranceOf(this)) return;
    this.isStarting = true;
    this.render();
    const { next } = this.state;
    this.startId = this.startFor === next.id ? this.startId : uuid();
    this.startFor = next.id;
    const answer = await post(root.trialsUrl, { id: this.startId, slot: next.id, session: this.session?.id }, { as: root.user }).catch(() => null);
    this.isStarting = false;
    if (!answer?.ok) toast(answer ? await messageOf(answer) : "The lab cannot be reached; nothing was started.", "error");
    await this.refresh();
    this.render();
  }

  scoreNow() {
    if (!latenessOf(this)) return;
    this.scoredEarly = this.state.trial.id;
    this.render();
  }

  get draft() {
    return this.scoring.values;
  }

  choose(change) {
    this.scoring.set(change);
    this.render();
  }

  chooseSuccess() {
    this.scoring.success();
    this.render();
  }

  chooseMode(value) {
    this.scoring.mode(value);
    this.render();
    byId("stages").scrollIntoView({ block: "nearest" });
  }

  accept() {
    const { proposal } = this.state.trial;
    if (!proposal || proposal.invalid_reason) return;
    this.scoring.take(proposal);
    this.render();
  }

  confirm() {
    if (!panels.isComplete(this.draft)) return;
    this.decide(this.state.trial, "confirm", { ...this.draft });
  }

  undo() {
    const { last } = this.state;
    if (last && !this.waiting.length && Date.parse(last.undo_until) > this.clock.now()) this.decide(last, "undo", {});
  }

  decide(trial, kind, body) {
    const entry = { kind, trial: trial.id, url: `/api/trials/${trial.id}/${kind}/`, body: { ...body, version: trial.version } };
    this.waiting = [...this.waiting, { ...entry, user: root.user }];
    this.render();
    this.outbox.add(entry);
  }

  async takeBack() {
    const entry = await this.outbox.takeBack(this.state.trial.id);
    if (!entry) toast("It is being sent at this moment; undo it once it is there.", "warning");
    this.render();
  }

  stopTrial() {
    return endTrial(this.state.trial);
  }

  invalid() {
    this.sheet.ask(this.state.trial?.proposal?.invalid_reason ?? "");
  }

  onClick(event) {
    const action = event.target.closest("[data-action]")?.dataset.action;
    if (!action) return;
    const [name, value] = action.split(":");
    if (name === "success") this.chooseSuccess();
    else if (name === "mode") this.chooseMode(value);
    else if (name === "stage") this.choose({ furthest_stage: value });
    else this[name]();
  }

  // ---- what is shown
  render() {
    const { confirmed, planned } = this.state.progress;
    byId("progress-bar").style.width = `${planned ? (100 * confirmed) / planned : 0}%`;
    byId("progress-text").textContent = `${confirmed} of ${planned}`;
    byId("unblinded").hidden = this.state.study.is_blinded;
    document.body.dataset.step = this.step;
    this.showAgent();
    const isNoteFocused = document.activeElement?.id === "note";
    const ticked = [...document.querySelectorAll("#checks input:checked")].map((box) => box.name);
    byId("panel").replaceChildren(...panels.panelOf(this, root.studyUrl));
    for (const name of ticked) document.querySelector(`#checks [name=${name}]`)?.setAttribute("checked", "");
    if (isNoteFocused) byId("note")?.focus();
    this.tick();
  }

  tick() {
    if (showCountdowns(this)) this.render();
  }
}

window.labConsole = new Console();
