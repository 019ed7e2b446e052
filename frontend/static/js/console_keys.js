// What each key does in each step of the console. A foot pedal is a key: which one, each device remembers.
import { closeSheets, isSheetOpen, openSheet } from "./console_sheets.js";
import { byId, recall, remember } from "./console_page.js";

const STORED = "console-pedals";
const NAMES = { " ": "Space", Enter: "Enter", Escape: "Esc", Backspace: "⌫" };
export const PEDALS = [
  [" ", "Go on: tick the next point, start the trial"],
  ["a", "Take the proposal"],
  ["s", "Success"],
  ["Enter", "Confirm the outcome"],
  ["Backspace", "End the trial"],
  ["Escape", "Stop the robot"],
];

const nameOf = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
const normal = (key) => (key.length === 1 ? key.toLowerCase() : key);

export class Pedals {
  constructor() {
    this.keys = recall(localStorage, STORED) ?? {}; // pressed key -> key that it stands for
    this.element = byId("keys-dialog");
    byId("keys").addEventListener("click", () => this.open());
    byId("pedals").addEventListener("click", (event) => this.choose(event.target.dataset));
    this.element.addEventListener("close", () => (this.learning = null));
  }

  meant(key) {
    return this.keys[normal(key)] ?? normal(key);
  }

  open() {
    this.render();
    openSheet(this.element, this.element.querySelector("button"));
  }

  choose({ learn, forget }) {
    if (learn) this.learning = learn;
    if (forget) this.keep(Object.fromEntries(Object.entries(this.keys).filter(([, action]) => action !== forget)));
    this.render();
  }

  // Takes the next key as the pedal's, when one is being learnt. A pedal that presses Escape stops the robot anyway.
  learn(event) {
    if (!this.learning || ["Shift", "Control", "Alt", "Meta", "Escape"].includes(event.key)) return false;
    const others = Object.entries(this.keys).filter(([, action]) => action !== this.learning);
    this.keep({ ...Object.fromEntries(others), [normal(event.key)]: this.learning });
    this.learning = null;
    this.render();
    return true;
  }

  keep(keys) {
    this.keys = keys;
    remember(localStorage, STORED, JSON.stringify(keys));
  }

  render() {
    byId("pedals").replaceChildren(...PEDALS.map(([action, label]) => {
      const pedal = Object.keys(this.keys).find((key) => this.keys[key] === action);
      const words = this.learning === action ? "Press the pedal now…" : pedal ? `Pedal: ${nameOf(pedal)}` : "Assign a pedal";
      const row = document.createElement("tr");
      row.append(cell("th", label), cell("td", nameOf(action), "kbd"), cell("td", words, "button", { learn: action }));
      row.append(pedal ? cell("td", "Forget", "button", { forget: action }) : cell("td", ""));
      return row;
    }));
  }
}

function cell(tag, text, inner = "span", data = {}) {
  const element = Object.assign(document.createElement(inner), { textContent: text });
  if (inner === "button") Object.assign(element, { type: "button", className: "button" });
  Object.assign(element.dataset, data);
  const outer = document.createElement(tag);
  outer.append(element);
  return outer;
}

export function listenToKeys(lab) {
  document.addEventListener("keydown", (event) => onKey(lab, event));
}

function onKey(lab, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (lab.pedals.learn(event)) {
    event.preventDefault();
    return;
  }
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  const key = isTyping ? event.key : lab.pedals.meant(event.key);
  if (key === "Escape") emergency(lab, event);
  else if (isSheetOpen()) return;
  else if (isTyping) onTypingKey(lab, event);
  else act(keysOf(lab)[key], event);
}

// Escape stops the robot, wherever the cursor is and whatever is asked.
function emergency(lab, event) {
  event.preventDefault();
  lab.stop.press();
  closeSheets();
  if (event.target.id === "note") event.target.blur();
}

function onTypingKey(lab, event) {
  if (event.target.id !== "note" || event.key !== "Enter") return;
  lab.confirm();
  event.target.blur();
}

function act(action, event) {
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  if (!event.repeat) action();
}

const focusNote = () => byId("note").focus();

function keysOf(lab) {
  const past = { u: () => lab.undo(), c: () => byId("correct-last")?.click() };
  switch (lab.step) {
    case "checklist": return { " ": () => lab.tickNext() };
    case "next": return { " ": () => lab.start(), ...past };
    case "running": return { Backspace: () => lab.stopTrial(), i: () => lab.invalid(), w: () => lab.scoreNow() };
    case "score": return scoreKeys(lab);
    case "sending": return { u: () => lab.takeBack() };
    case "done": return past;
    default: return {};
  }
}

function scoreKeys(lab) {
  const keys = {
    s: () => lab.chooseSuccess(),
    a: () => lab.accept(),
    i: () => lab.invalid(),
    n: focusNote,
    Enter: () => lab.confirm(),
  };
  for (const mode of lab.choices.failure_modes) keys[mode.key] = () => lab.chooseMode(mode.value);
  if (lab.draft.is_success === false) {
    for (const stage of lab.choices.stages) keys[stage.key] = () => lab.choose({ furthest_stage: stage.value });
  }
  return keys;
}
