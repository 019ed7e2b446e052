// The session at the rig as this device sees it: begun here with the checklist, found again after a reload, or lost to
// somebody who took over.
import { ask } from "./console_sheets.js";
import { messageOf, post } from "./console_queue.js";
import { deviceId, time, toast } from "./console_page.js";

export class RigSession {
  constructor(url, user) {
    Object.assign(this, { url, user, held: null, remark: "" });
  }

  // Follows the lab; true when that changed anything.
  follow(held) {
    const before = `${this.held?.id} ${this.remark}`;
    const isOurs = held?.device_id === deviceId() && held.operator === this.user;
    if (isOurs) this.wasLost = false;
    if (isOurs) this.remark = "";
    else if (this.held) [this.wasLost, this.remark] = [true, lossOf(held, this.user)];
    else if (!this.wasLost) this.remark = held ? holderOf(held, this.user) : "";
    this.held = isOurs ? held : null;
    return before !== `${this.held?.id} ${this.remark}`;
  }

  async begin(checklist) {
    const body = { device_id: deviceId(), checklist };
    let answer = await this.post(body);
    if (answer?.status === 409) {
      const { detail } = await answer.json();
      const isWanted = await ask(`${detail} Take over? The other device can start no further trial.`, "Take over");
      if (!isWanted) return false;
      answer = await this.post({ ...body, take_over: true });
    }
    return report(answer);
  }

  async end() {
    this.held = null; // nobody is to be told that it was taken
    return report(await this.post({ device_id: deviceId() }, "DELETE"));
  }

  post(body, method = "POST") {
    return post(this.url, body, { as: this.user, method }).catch(() => null);
  }
}

async function report(answer) {
  if (answer?.ok) return true;
  toast(answer ? await messageOf(answer) : "The lab cannot be reached.", "error");
  return false;
}

function holderOf(held, user) {
  const who = held.operator === user ? "You hold" : `${held.operator} holds`;
  return `${who} the session of this study since ${time(held.started_at)}, on another device.`;
}

function lossOf(held, user) {
  if (!held) return "Your session has ended: it was ended elsewhere, or had been open for eight hours. Look the rig over again.";
  const who = held.operator === user ? "You have" : `${held.operator} has`;
  return `${who} taken over this session at ${time(held.started_at)}, on another device. You can still score the trial that you began.`;
}
