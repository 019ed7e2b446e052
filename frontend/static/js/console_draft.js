// The outcome as it is being chosen: empty at first, never a default; kept in this tab for whoever chose it, should the
// page be loaded again.
import { recall, remember } from "./console_page.js";

const STORED = "draft";
const EMPTY = { is_success: null, failure_mode: "", furthest_stage: "", note: "" };

export class Draft {
  constructor(trial, user) {
    Object.assign(this, { trial: trial?.id, user });
    const kept = recall(sessionStorage, STORED);
    const isMine = kept && this.trial && kept.trial === this.trial && kept.user === user;
    this.values = { ...EMPTY, ...(isMine ? kept.values : {}) };
  }

  set(change) {
    Object.assign(this.values, change);
    remember(sessionStorage, STORED, JSON.stringify({ trial: this.trial, user: this.user, values: this.values }));
  }

  success() {
    this.set({ is_success: true, failure_mode: "", furthest_stage: "placed" });
  }

  mode(value) {
    const stage = this.values.is_success === false ? this.values.furthest_stage : "";
    this.set({ is_success: false, failure_mode: value, furthest_stage: stage });
  }

  take({ success, failure_mode, furthest_stage }) {
    this.set({ is_success: success, failure_mode, furthest_stage: success ? "placed" : furthest_stage });
  }
}
