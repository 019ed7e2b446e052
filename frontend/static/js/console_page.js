// Small tools of the console's page: elements by id, times of day, coloured marks, toasts, what the device remembers, its
// own number, the lab's clock, a screen kept on.
export const byId = (id) => document.getElementById(id);
export const read = (id) => JSON.parse(byId(id).textContent);
export const time = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });

// crypto.randomUUID exists only on https and localhost; a tablet in the lab's own network may use neither.
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// Full or forbidden storage: the page goes on without.
export function remember(area, key, text) {
  try {
    area.setItem(key, text);
  } catch {
    // whoever asks next finds what was there before
  }
}

// What was remembered as JSON, null where nothing was or where it cannot be read.
export function recall(area, key) {
  try {
    return JSON.parse(area.getItem(key));
  } catch {
    return null;
  }
}

let device = null;

export function deviceId() {
  if (device) return device;
  device = localStorage.getItem("device") ?? uuid();
  remember(localStorage, "device", device);
  return device;
}

export function mark(id, tone, text) {
  byId(id).className = `pill ${tone}`;
  byId(id).textContent = text;
}

// An error stays until somebody has read it.
export function toast(text, tone) {
  const element = Object.assign(document.createElement("div"), { className: `toast ${tone}` });
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "✕", ariaLabel: "Dismiss" });
  close.addEventListener("click", () => element.remove());
  element.append(Object.assign(document.createElement("span"), { textContent: text }), close);
  byId("toasts").append(element);
  if (tone !== "error") setTimeout(() => element.remove(), 5000);
}

// The lab's time, carried on by a clock that nobody can set: a tablet whose time jumps shows the same countdown.
export class LabClock {
  // `ageMs`: how long ago the lab said so.
  set(isoTime, ageMs = 0) {
    this.offset = Date.parse(isoTime) + ageMs - performance.now();
  }

  now() {
    return performance.now() + this.offset;
  }
}

export async function keepScreenOn() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // refused on low battery or in the background: the console works without
  }
}
