// The software stop: one press goes over the socket and, when the robot has not answered at once, over REST too. What
// the banner shows is what the robot answered, not what was pressed; no answer is an alarm.
import { ask } from "./console_sheets.js";
import { messageOf, post } from "./console_queue.js";
import { byId, toast } from "./console_page.js";

const SECOND_WAY_MS = 400;
const ALARM_MS = 2000;
const NO_ANSWER = "The robot has not answered: use the emergency stop on the rig!";

export class StopSwitch extends EventTarget {
  constructor(feed, cell) {
    super();
    Object.assign(this, { feed, cell, isPressed: false, isAwaited: false });
    feed.addEventListener("stop", ({ detail }) => this.show(detail.is_pressed, detail.by));
    byId("stop").addEventListener("click", () => this.press());
    byId("release").addEventListener("click", () => this.release());
  }

  press() {
    const isSent = this.feed.send({ type: "stop", pressed: true });
    if (this.isPressed || this.isAwaited) return;
    this.await(true);
    this.second = setTimeout(() => this.sendOverRest(), isSent ? SECOND_WAY_MS : 0);
    this.alarm = setTimeout(() => this.say(NO_ANSWER, "alarm"), ALARM_MS);
  }

  async sendOverRest() {
    const answer = await post(`/api/cells/${this.cell}/stop/`, {}).catch(() => null);
    const agents = answer?.ok ? (await answer.json()).agents : 0;
    if (!this.isAwaited || agents) return;
    const why = answer === null ? "The lab cannot be reached" : answer.ok ? "No robot is connected to the lab" : await messageOf(answer);
    this.say(`${why}: use the emergency stop on the rig!`, "alarm");
  }

  async release() {
    if (!this.isPressed) return this.await(false);
    if (!(await ask("Is the cell clear? The robot may move again.", "Release the stop"))) return undefined;
    if (!this.feed.send({ type: "stop", pressed: false })) toast("There is no connection to the lab: the stop stays.", "error");
    return undefined;
  }

  // Said before anybody presses: with no connection a press arrives nowhere.
  showReach(isLabUp) {
    const how = this.feed.isUp ? "may not" : "cannot";
    byId("stop-reach").textContent = isLabUp ? "" : `STOP ${how} reach the robot through the network: use the one on the rig.`;
    byId("stop").classList.toggle("cut", !isLabUp);
  }

  // After the page was loaded again during a cut: it was stopped then, and nobody here knows better.
  recall(isPressed) {
    if (!isPressed) return;
    this.show(true, "");
    this.say("The robot was stopped when the connection was lost.", "stopped");
  }

  followState(state) {
    if (state === "stopped") this.show(true, "");
    if (["idle", "busy"].includes(state) && !this.isAwaited) this.show(false, "");
  }

  await(isAwaited) {
    clearTimeout(this.second);
    clearTimeout(this.alarm);
    this.isAwaited = isAwaited;
    if (isAwaited) this.say("Stop sent, waiting for the robot’s answer…", "awaited");
    else byId("stop-banner").hidden = !this.isPressed;
    byId("stop").setAttribute("aria-pressed", String(isAwaited || this.isPressed));
  }

  show(isPressed, by) {
    if (this.isPressed === isPressed && !this.isAwaited) return;
    this.isPressed = isPressed;
    this.await(false);
    if (isPressed) this.say(by ? `The robot has stopped: ${by} pressed stop.` : "The robot is stopped.", "stopped");
    this.dispatchEvent(new CustomEvent("change"));
  }

  say(text, state) {
    byId("stop-banner").hidden = false;
    byId("stop-banner").dataset.state = state;
    byId("stop-text").textContent = text;
    byId("release").textContent = state === "stopped" ? "Release the stop…" : "Dismiss";
    byId("release").hidden = state === "awaited";
  }
}

// Asks the robot to end the trial, as at its time limit: no stop, it moves on.
export async function endTrial(trial) {
  const answer = await post(`/api/trials/${trial.id}/stop/`, {}).catch(() => null);
  if (!answer?.ok) toast(answer ? await messageOf(answer) : "The lab cannot be reached: use the emergency stop on the rig.", "error");
  else toast("The robot was asked to end the trial.", "warning");
}
