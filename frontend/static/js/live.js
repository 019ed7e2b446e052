// The live page: cameras, joints, and whether the robot is there.
import { LiveFeed, showRate } from "./live_feed.js";
import { JointPlot, RollingJoints, numberedNames } from "./live_plot.js";

const page = document.getElementById("live-page");
const state = document.getElementById("agent-state");
const WORDS = { idle: "ready", busy: "trial running", stopped: "stopped", away: "away", "": "connected" };
const TONES = { idle: "good", busy: "active", stopped: "bad", away: "", "": "good" };

if (page) {
  const feed = new LiveFeed(page.dataset.cell);
  const plot = new JointPlot(...["joint-plot", "joint-legend", "joint-group"].map((id) => document.getElementById(id)));
  const joints = new RollingJoints();
  const names = JSON.parse(document.getElementById("joint-names").textContent);
  showRate(feed, document.getElementById("live-rate"));
  feed.addEventListener("joints", ({ detail }) => {
    if (plot.names.length !== detail.position.length) {
      plot.setNames(names.length === detail.position.length ? names : numberedNames(detail.position.length));
    }
    plot.show(joints.add(detail.position));
  });
  feed.addEventListener("agent", ({ detail }) => {
    state.textContent = detail.name ? `${detail.name}: ${WORDS[detail.state]}` : WORDS[detail.state];
    state.className = `pill ${TONES[detail.state]}`;
  });
  feed.addEventListener("link", ({ detail }) => {
    if (detail.isUp) return;
    state.textContent = "no connection to the lab, trying again";
    state.className = "pill warn";
  });
}
