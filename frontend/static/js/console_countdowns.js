// What runs on its own on the console: the time of a trial, and the seconds in which the last outcome can be taken back.
import { byId } from "./console_page.js";
import { latenessOf } from "./console_steps.js";

// Returns whether a span has ended, so that the panel is to be drawn anew.
export function showCountdowns(lab) {
  return showTrial(lab) || showUndo(lab);
}

function showTrial(lab) {
  const { trial, study } = lab.state;
  const timer = byId("timer");
  if (!timer || !trial) return false;
  const elapsed = Math.max(0, lab.clock.now() - (lab.startedLocally ?? Date.parse(trial.started_at))) / 1000;
  timer.textContent = `${elapsed.toFixed(1)} s`;
  byId("timer-bar").style.width = `${Math.min(100, (100 * elapsed) / study.time_limit_s)}%`;
  return Boolean(latenessOf(lab)) !== Boolean(byId("lateness"));
}

function showUndo({ state, clock }) {
  const left = byId("undo-left");
  if (!left || !state.last) return false;
  const seconds = (Date.parse(state.last.undo_until) - clock.now()) / 1000;
  left.textContent = `${Math.max(0, seconds).toFixed(0)} s`;
  if (seconds > 0) return false;
  state.last = null;
  return true;
}
