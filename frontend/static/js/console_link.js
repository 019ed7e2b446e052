// What stands between this page and the lab: no connection, somebody signed out, or another person signed in. Then
// `isOver`: the page is nobody's any more.
import { byId, mark, time } from "./console_page.js";

export class LabLink extends EventTarget {
  constructor({ stateUrl, loginUrl, user }, isUp) {
    super();
    Object.assign(this, { stateUrl, loginUrl, user, isUp, trouble: "", waiting: [], asOf: null });
    this.show();
    new ResizeObserver(([{ target }]) => leaveRoom(target.offsetHeight)).observe(byId("waiting-banner"));
  }

  async fetch() {
    try {
      const answer = await fetch(this.stateUrl, { signal: AbortSignal.timeout(8000) });
      if (answer.ok) return this.check(await answer.json());
      this.refuse(answer.status);
    } catch {
      this.change({ isUp: false });
    }
    return null;
  }

  check(state) {
    const other = state.user === this.user ? "" : `${state.user} has signed in on this device: reload the page to go on as ${state.user}.`;
    this.change({ isUp: true, trouble: other, isOver: other !== "" });
    return other ? null : state;
  }

  refuse(status) {
    const signedOut = status === 401 || status === 403;
    this.change({ isUp: true, trouble: signedOut ? (status === 401 ? "You are signed out." : "You are signed out, or may not do this any more.") : `The lab answers with an error (${status}).`, signedOut, isOver: signedOut });
  }

  change({ isUp, trouble = "", signedOut = false, isOver = false }) {
    const isChange = this.isUp !== isUp || this.trouble !== trouble;
    Object.assign(this, { isUp, trouble, signedOut, isOver });
    this.show();
    if (isChange) this.dispatchEvent(new CustomEvent("change"));
  }

  get hindrance() {
    if (this.trouble) return this.trouble;
    return this.isUp ? "" : "There is no connection to the lab.";
  }

  showWaiting(entries) {
    this.waiting = entries;
    this.show();
  }

  show() {
    const tone = this.trouble ? "bad" : this.isUp ? "good" : "warn";
    mark("lab-link", tone, this.trouble ? "signed out" : this.isUp ? "lab" : "no connection");
    if (this.trouble && !this.signedOut) byId("lab-link").textContent = "lab: trouble";
    const others = new Set(this.waiting.map((entry) => entry.user ?? this.user).filter((user) => user !== this.user));
    const banner = byId("waiting-banner");
    banner.hidden = this.isUp && !this.trouble && this.waiting.length === 0;
    byId("waiting-text").textContent = [this.trouble, this.words(), ...[...others].map(wordsOfOther)].filter(Boolean).join(" ");
    byId("sign-in").hidden = !this.signedOut;
  }

  words() {
    const count = this.waiting.filter((entry) => (entry.user ?? this.user) === this.user).length;
    const asOf = this.asOf ? ` Shown as of ${time(this.asOf)}.` : "";
    const decisions = count === 1 ? "1 decision waits" : `${count} decisions wait`;
    if (this.trouble) return count ? `${decisions} on this device and will be sent afterwards.` : "";
    if (this.isUp) return count ? `${decisions} to be sent.` : "";
    return count
      ? `No connection to the lab: ${decisions} on this device and will be sent once it is back.${asOf}`
      : `No connection to the lab, trying again. What you decide is kept on this device.${asOf}`;
  }
}

const wordsOfOther = (user) => `What ${user} decided waits on this device until ${user} signs in here again.`;

// What the banner covers: nothing to be pressed may lie behind it.
const leaveRoom = (height) => document.body.style.setProperty("--waiting-height", `${height}px`);
