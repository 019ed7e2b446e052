// Questions of the console. They are not modal for the browser: what lies behind is inert, but STOP stays in reach.
import { byId } from "./console_page.js";

export const isSheetOpen = () => document.querySelector("dialog[open]") !== null;

export function openSheet(element, focused) {
  element.returnValue = "";
  element.show();
  byId("console-body").inert = true;
  element.addEventListener("close", () => (byId("console-body").inert = isSheetOpen()), { once: true });
  focused?.focus();
}

export function closeSheets() {
  for (const element of document.querySelectorAll("dialog[open]")) element.close("");
}

// Asks why a trial is invalid; without a reason nothing happens.
export class InvalidSheet {
  constructor(onReason) {
    this.element = byId("invalid-dialog");
    this.reason = byId("invalid-reason");
    this.element.addEventListener("close", () => {
      const reason = this.reason.value.trim();
      if (this.element.returnValue === "invalid" && reason) onReason(reason);
    });
    byId("invalid-examples").addEventListener("click", (event) => {
      if (event.target.matches("button")) this.reason.value = event.target.textContent;
    });
  }

  ask(suggestion) {
    this.reason.value = suggestion;
    openSheet(this.element, this.reason);
  }
}

// "Is that so?" with the words of the button that says yes.
export function ask(text, yes) {
  const element = byId("ask-dialog");
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = yes;
  openSheet(element, byId("ask-yes"));
  return new Promise((resolve) => element.addEventListener("close", () => resolve(element.returnValue === "yes"), { once: true }));
}
