// A recorded trial: every camera on one playhead, joints and commands below it, events and remarks on the timeline.
import { JointPlot, numberedNames } from "./live_plot.js";
import { TrialPlayer } from "./trial_player.js";
import { followOthers } from "./trial_live.js";
import { followRemarks, remarkMarks } from "./trial_remarks.js";

const root = document.getElementById("playback");
const eventMarks = () =>
  JSON.parse(document.getElementById("trial-events").textContent).map((event) => ({
    time: event.time_s,
    label: event.is_out_of_order ? `${event.label} (the robot's clock jumped)` : event.label,
    tone: event.kind,
  }));

async function showSeries(player, plot) {
  const answer = await fetch(root.dataset.series);
  if (!answer.ok) return;
  const series = await answer.json();
  plot.setNames(series.names.length ? series.names : numberedNames(series.state.length));
  plot.show({ times: series.times_s, lines: series.state, dashed: series.action, marks: player.marks.map((mark) => mark.time) });
  plot.redraw();
}

if (root) {
  const player = new TrialPlayer(root);
  const plot = new JointPlot(...["joint-plot", "joint-legend", "joint-group"].map((id) => document.getElementById(id)));
  const showMarks = () => player.showMarks([...eventMarks(), ...remarkMarks()]);
  showMarks();
  followRemarks(player, showMarks);
  followOthers(showMarks);
  player.followPlot(plot);
  showSeries(player, plot);
} else {
  followOthers();
}
