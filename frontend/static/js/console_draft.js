// The outcome as it is being chosen: empty at first, never a default; kept in this tab, should the page be loaded again.
const STORED = "draft";
const EMPTY = { is_success: null, failure_mode: "", furthest_stage: "", note: "" };

export class Draft {
  constructor(trial) {
    this.trial = trial?.id;
    const kept = JSON.parse(sessionStorage.getItem(STORED) ?? "null");
    this.values = { ...EMPTY, ...(kept && this.trial && kept.trial === this.trial ? kept.values : {}) };
  }

  set(change) {
    Object.assign(this.values, change);
    sessionStorage.setItem(STORED, JSON.stringify({ trial: this.trial, values: this.values }));
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
