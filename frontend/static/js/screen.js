// The second screen: what to lay where, which code, how long it runs. It only looks: scoring is the console's.
import { LabClock, byId, keepScreenOn, mark, read } from "./console_page.js";
import { LiveFeed } from "./live_feed.js";

const POLL_MS = 3000;
const root = byId("screen").dataset;

class Screen {
  constructor() {
    this.clock = new LabClock();
    this.feed = new LiveFeed(root.cell, () => this.clock.now());
    this.feed.addEventListener("changed", () => this.refresh());
    this.feed.addEventListener("trial", ({ detail }) => detail.kind === "started" && (this.startedHere = { trial: detail.trial, at: this.clock.now() }));
    this.feed.addEventListener("link", ({ detail }) => mark("lab-link", detail.isUp ? "good" : "warn", detail.isUp ? "lab" : "lab: no connection"));
    byId("full-screen").addEventListener("click", () => document.documentElement.requestFullscreen?.());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && keepScreenOn());
    document.addEventListener("pointerdown", keepScreenOn, { once: true });
    this.show(read("console-state"));
    keepScreenOn();
    setInterval(() => this.refresh(), POLL_MS);
    setInterval(() => this.tick(), 100);
  }

  async refresh() {
    try {
      const answer = await fetch(root.stateUrl, { signal: AbortSignal.timeout(8000) });
      if (answer.ok) this.show(await answer.json());
    } catch {
      mark("lab-link", "warn", "lab: no connection");
    }
  }

  show(state) {
    this.state = state;
    this.clock.set(state.now);
    const { trial, next, progress } = state;
    const slot = trial?.slot ?? next;
    const isRunning = trial?.status === "running";
    byId("screen-step").textContent = this.words(state);
    byId("screen-code").textContent = slot?.code ?? "";
    byId("screen-condition").textContent = slot ? `${slot.condition}: ${slot.object} to the ${slot.bin} bin` : "";
    byId("screen-condition").classList.toggle("shifted", Boolean(slot?.is_shifted));
    byId("screen-reset").replaceChildren(...(trial ? [] : (next?.reset ?? [])).map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    byId("screen-timer").hidden = byId("screen-bar").hidden = !isRunning;
    byId("screen-progress").textContent = `${progress.confirmed} of ${progress.planned} scored`;
    mark("robot-link", state.agent.is_connected ? "good" : "warn", state.agent.is_connected ? "robot" : "robot: away");
    this.tick();
  }

  words({ study, trial, next, session }) {
    if (trial) return trial.status === "running" ? "Running" : "Over: to be scored on the console";
    if (study.status !== "locked") return "No trials in this study now";
    if (!next) return "All trials are done";
    return session ? `Next, with ${session.operator} at the rig` : "Next; nobody holds a session yet";
  }

  tick() {
    const { trial, study } = this.state;
    if (trial?.status !== "running") return;
    const since = this.startedHere?.trial === trial.id ? this.startedHere.at : Date.parse(trial.started_at);
    const seconds = Math.max(0, (this.clock.now() - since) / 1000);
    byId("screen-timer").textContent = `${seconds.toFixed(1)} s`;
    byId("screen-fill").style.width = `${Math.min(100, (100 * seconds) / study.time_limit_s)}%`;
  }
}

window.labScreen = new Screen();
