// Asks why a trial is invalid; without a reason nothing happens.
import { byId } from "./console_page.js";

export class InvalidDialog {
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
    this.element.returnValue = "";
    this.element.showModal();
    this.reason.focus();
  }
}
