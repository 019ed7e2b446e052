// Which step the console is in, and what stands in the way. Pure: what the page knows in, words out.
const LATE_S = 3; // a robot that reports this long after the time limit is late: the operator may score without it

const NO_REPORT = "There is no connection to the lab, so the robot’s report cannot arrive. Once it has stopped you can score what you saw, or mark the trial invalid.";
const AWAY = "The robot’s agent is away. It reports once it is back; you can score what you saw, or mark the trial invalid.";
const LATE = "The robot has not reported in time. You can score what you saw.";

export function stepOf({ state, session, waiting, scoredEarly }) {
  const { trial } = state;
  if (trial && waiting.some((entry) => entry.trial === trial.id && entry.kind !== "undo")) return "sending";
  if (trial) return trial.status === "running" && scoredEarly !== trial.id ? "running" : "score";
  if (state.study.status !== "locked") return "closed";
  if (!state.next) return "done";
  return session ? "next" : "checklist";
}

// Why the next trial cannot be started, "" when it can.
export function hindranceOf({ state, stop, waiting, link }) {
  if (stop.isPressed) return "The robot is stopped: release the stop first.";
  if (waiting.length) return "The last decision is still on its way to the lab.";
  if (link.hindrance) return link.hindrance;
  return state.agent.is_connected ? "" : "The robot's agent is not connected.";
}

// Why a running trial may be scored already, "" when it may not: nothing can be heard of the robot, or it is late.
export function latenessOf({ state, link, clock }) {
  const { trial, agent, study } = state;
  if (!link.isUp) return NO_REPORT;
  if (!agent.is_connected) return AWAY;
  const elapsed = (clock.now() - Date.parse(trial.started_at)) / 1000;
  return elapsed > 2 * study.time_limit_s + LATE_S ? LATE : "";
}
