// What the console's panel looks like in each step. Pure: state in, elements out; clicks go to the named actions.
import { hindranceOf, latenessOf } from "./console_steps.js";

const make = (tag, props = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const key = (text) => make("kbd", { textContent: text });
const card = (...children) => make("section", { className: "card" }, make("div", { className: "card-body" }, ...children));

function button(action, label, shortcut, className = "button", props = {}) {
  const element = make("button", { type: "button", className, ...props }, label, shortcut ? key(shortcut) : null);
  element.dataset.action = action;
  return element;
}

const remark = (text, id = "") => (text ? make("div", { className: "notice warn", id }, make("span", { textContent: text })) : null);

// Where the browser offers no worker, or keeps nothing, it is said while there is time to do something about it.
const WHY_NOT = isSecureContext ? "This browser keeps no copy of it." : "That needs an HTTPS address.";
const NO_RELOAD = `During a network cut, do not reload this page: it could not come back. ${WHY_NOT}`;

function checklistPanel(checklist, loss, canReload) {
  const boxes = Object.entries(checklist).map(([name, label]) =>
    make("label", {}, make("input", { type: "checkbox", name }), label),
  );
  return [card(
    make("h2", { textContent: "Before the first trial" }),
    remark(loss),
    make("div", { className: "checks", id: "checks" }, ...boxes),
    button("begin", "Begin the session", "Space", "button primary big-action"),
    make("p", { className: "faint small", textContent: "Space ticks the next point; when all are ticked, it begins." }),
    canReload ? null : make("p", { className: "faint small", id: "no-reload", textContent: NO_RELOAD }),
  )];
}

function nextPanel(state, { before, canStart, why, past }) {
  const { next, progress } = state;
  const done = progress.confirmed;
  return [card(
    make("div", { className: "trial-head" },
      make("span", { textContent: `Trial ${done + 1} of ${progress.planned}${next.is_repetition ? ", a repetition" : ""}` }),
      make("span", { textContent: next.condition }),
    ),
    make("div", { className: "trial-code", textContent: next.code, title: "The policy's code" }),
    settings(next, before),
    make("ol", { className: "reset-steps" }, ...next.reset.map((step) => make("li", { textContent: step }))),
    make("div", { className: "act" },
      past,
      make("p", { className: "why", role: "status", textContent: why ?? "" }),
      button("start", "Start", "Space", "button primary big-action", { disabled: !canStart })),
    button("endSession", "End the session", "", "button quiet end-session"),
  )];
}

function settings(slot, before) {
  const facts = [
    ["Object", slot.object, "object"],
    ["Bin", slot.bin, "bin"],
    ["Belt", `${slot.belt_speed.toFixed(2)} m/s`, "belt_speed"],
    ["Light", slot.light, "light"],
  ];
  const entries = facts.map(([label, value, name]) => {
    const isChanged = before && before[name] !== slot[name];
    return make("div", { className: isChanged ? "changed" : "", title: isChanged ? "Other than in the trial before" : "" },
      make("dt", { textContent: label }), make("dd", { textContent: value }));
  });
  return make("dl", { className: "settings" }, ...entries);
}

function runningPanel(trial, lateness) {
  return [card(
    trialHead(trial),
    make("div", { className: "trial-timer", id: "timer", textContent: "0.0 s" }),
    make("div", { className: "progress" }, make("span", { id: "timer-bar" })),
    lateness ? remark(lateness, "lateness") : make("p", { className: "soft", textContent: "Watch the rollout; you score it when it is over." }),
    make("div", { className: "act two" },
      lateness ? button("scoreNow", "Score what you saw", "W", "button primary large") : button("stopTrial", "End the trial", "⌫", "button large"),
      button("invalid", "Invalid…", "I", "button large danger")),
  )];
}

function trialHead(trial) {
  return make("div", { className: "trial-head" },
    make("span", { className: "trial-code", textContent: trial.slot?.code ?? "" }),
    make("span", { textContent: trial.slot ? `${trial.slot.object} to the ${trial.slot.bin} bin, ${trial.slot.condition.toLowerCase()}` : "" }));
}

function scorePanel(trial, choices, draft) {
  const { proposal } = trial;
  return [card(
    trialHead(trial),
    proposal ? proposalBox(proposal, choices) : make("p", { className: "soft", textContent: "The robot has not reported yet; you can score what you saw." }),
    choiceButton("success", "Success", "S", draft.is_success === true, "choice success wide"),
    make("div", { className: "choice-grid", role: "group", ariaLabel: "Failure mode" },
      ...choices.failure_modes.map((mode) =>
        choiceButton(`mode:${mode.value}`, sentence(mode.label), mode.key, draft.failure_mode === mode.value, "choice failure"))),
    draft.is_success === false ? make("div", { className: "small soft", textContent: "Furthest stage" }) : null,
    draft.is_success === false
      ? make("div", { className: "choice-grid stages", id: "stages", role: "group", ariaLabel: "Furthest stage" },
        ...choices.stages.map((stage) =>
          choiceButton(`stage:${stage.value}`, stage.label, stage.key.toUpperCase(), draft.furthest_stage === stage.value)))
      : null,
    noteField(draft),
    make("div", { className: "act confirm-row" },
      button("confirm", confirmLabel(draft, choices), "Enter", "button primary big-action", { disabled: !isComplete(draft) }),
      button("invalid", "Invalid…", "I", "button danger large")),
  )];
}

function proposalBox(proposal, choices) {
  if (proposal.invalid_reason) {
    return make("div", { className: "notice warn" }, make("span", { textContent: `The robot reports: ${proposal.invalid_reason}` }));
  }
  const words = proposal.success ? "success" : labelOf(choices.failure_modes, proposal.failure_mode);
  const detail = `${proposal.time_s.toFixed(1)} s${proposal.success ? "" : `, reached ${proposal.furthest_stage}`}`;
  return make("div", { className: "proposal" },
    make("span", {}, "Proposed: ", make("strong", { textContent: words }), make("br"), make("span", { className: "faint small", textContent: detail })),
    button("accept", "Take it", "A", "button large"));
}

function choiceButton(action, label, shortcut, isPressed, className = "choice") {
  const element = button(action, label, shortcut, className);
  element.setAttribute("aria-pressed", String(isPressed));
  return element;
}

function noteField(draft) {
  const input = make("input", { type: "text", id: "note", value: draft.note, placeholder: "Note (N)", maxLength: 4000 });
  input.setAttribute("aria-label", "Note");
  return input;
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const labelOf = (choices, value) => choices.find((choice) => choice.value === value)?.label ?? value;

export function isComplete(draft) {
  return draft.is_success === true || (draft.is_success === false && Boolean(draft.failure_mode && draft.furthest_stage));
}

function confirmLabel(draft, choices) {
  if (draft.is_success === true) return "Confirm success";
  if (draft.is_success === false && draft.failure_mode) return `Confirm: ${labelOf(choices.failure_modes, draft.failure_mode)}`;
  return "Confirm";
}

// The place above the next action: what was scored last, to be taken back for ten seconds, to be corrected afterwards.
// It is there before anything was scored, so that nothing jumps under a finger.
function pastBar(lab, studyUrl) {
  const { state, scored, waiting } = lab;
  const isOpen = state.last && !waiting.length; // until nothing waits it can be neither undone nor corrected
  const trial = state.last ?? scored;
  if (!trial) return make("div", { className: "past-bar empty", textContent: "Nothing scored on this page yet." });
  const words = `Trial ${trial.slot?.position ?? ""}: ${trial.is_success ? "success" : labelOf(lab.choices.failure_modes, trial.failure_mode)}`;
  return make("div", { className: `past-bar${isOpen ? (trial.is_success ? " success" : " failure") : ""}` },
    make("span", { textContent: words }),
    isOpen
      ? make("span", { className: "row" }, make("span", { id: "undo-left" }), button("undo", "Undo", "U"))
      : state.last ? null : correction(lab, `${studyUrl}trials/${trial.id}/#correct`));
}

// Not during a cut: the page that it leads to could not be loaded.
function correction(lab, href) {
  if (!lab.link.isUp) return make("span", { className: "faint small", textContent: "Correct it once the lab can be reached." });
  return make("a", { className: "button quiet", id: "correct-last", href }, "Correct…", key("C"));
}

function messagePanel(title, text, ...children) {
  return [card(make("h2", { textContent: title }), make("p", { textContent: text }), ...children)];
}

function sendingPanel(lab) {
  const kept = lab.link.hindrance
    ? "Your decision is kept on this device until the lab can be reached."
    : "Your decision is on its way to the lab.";
  return messagePanel("Kept", kept, make("div", { className: "act" }, button("takeBack", "Take it back", "U", "button large")));
}

const CLOSED = {
  draft: "This study is not locked yet: no trials can be run.",
  finished: "This study is finished. Nothing more is run here; thank you.",
};

const linkButton = (href, label) => make("a", { className: "button primary large", href }, label);

export function panelOf(lab, studyUrl) {
  const { state } = lab;
  const toStudy = () => linkButton(studyUrl, "To the study");
  switch (lab.step) {
    case "closed": return messagePanel("No trials here", CLOSED[state.study.status], toStudy());
    case "done": return messagePanel("All trials are done", "Every planned trial has been scored. Thank you.", pastBar(lab, studyUrl), toStudy());
    case "checklist": return checklistPanel(lab.checklist, lab.rig.remark, lab.keeper.isPossible);
    case "running": return runningPanel(state.trial, latenessOf(lab));
    case "score": return scorePanel(state.trial, lab.choices, lab.draft);
    case "sending": return sendingPanel(lab);
    default: {
      const why = lab.isStarting ? "Starting…" : hindranceOf(lab);
      return nextPanel(state, { before: lab.nextBefore, canStart: !why, why, past: pastBar(lab, studyUrl) });
    }
  }
}
