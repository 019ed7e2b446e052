// What each key does in each step of the console. A foot pedal is a key.
const focusNote = () => document.getElementById("note").focus();

export function keysOf(lab) {
  const undo = { u: () => lab.undo() };
  switch (lab.step) {
    case "checklist": return { " ": () => lab.tickNext() };
    case "next": return { " ": () => lab.start(), ...undo };
    case "running": return { Backspace: () => lab.stopTrial(), i: () => lab.invalid() };
    case "score": return scoreKeys(lab);
    case "done": return undo;
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
