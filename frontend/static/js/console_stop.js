// The software stop: one press reaches the robot over the socket, or over REST when the socket is down. What the banner
// shows is what the robot answered, not what was pressed.
import { post } from "./console_queue.js";
import { byId, toast } from "./console_page.js";

export class StopSwitch extends EventTarget {
  constructor(feed, cell) {
    super();
    this.feed = feed;
    this.cell = cell;
    this.isPressed = false;
    feed.addEventListener("stop", ({ detail }) => this.show(detail.is_pressed, detail.by));
    byId("stop").addEventListener("click", () => this.press());
    byId("release").addEventListener("click", () => this.release());
  }

  press() {
    if (!this.feed.send({ type: "stop", pressed: true })) {
      post(`/api/cells/${this.cell}/stop/`, {}).catch(() =>
        toast("The lab cannot be reached: use the emergency stop on the rig!", "error"),
      );
    }
    toast("Stop sent to the robot.", "warning");
  }

  release() {
    if (confirm("Is the cell clear? The robot may move again.")) this.feed.send({ type: "stop", pressed: false });
  }

  followState(state) {
    if (state === "stopped") this.show(true, "");
    if (["idle", "busy"].includes(state)) this.show(false, "");
  }

  show(isPressed, by) {
    if (this.isPressed === isPressed) return;
    this.isPressed = isPressed;
    byId("stop-banner").hidden = !isPressed;
    byId("stop-text").textContent = by ? `The robot is stopped: ${by} pressed stop.` : "The robot is stopped.";
    this.dispatchEvent(new CustomEvent("change"));
  }
}
