// A recorded trial: every camera on one playhead, joints and commands below it, events and remarks on the timeline.
import { showAttributions } from "./attribution.js";
import { JointPlot, numberedNames } from "./live_plot.js";
import { StageStrip } from "./stage_strip.js";
import { TrialPlayer } from "./trial_player.js";
import { followOthers } from "./trial_live.js";
import { followRemarks, remarkMarks } from "./trial_remarks.js";

const root = document.getElementById("playback");
const events = root ? JSON.parse(document.getElementById("trial-events").textContent) : [];
const eventMarks = () =>
  events.map((event) => ({
    time: event.time_s,
    label: event.is_out_of_order ? `${event.label} (the robot's clock jumped)` : event.label,
    tone: event.kind,
  }));

async function showSeries(player, plot, strip) {
  const answer = await fetch(root.dataset.series);
  const series = await answer.json();
  if (!answer.ok) {
    document.getElementById("series-note").textContent = `No joints: ${series.detail}`;
    return;
  }
  player.setRecorded([{ duration: series.duration_s }]);
  const range = { start: series.times_s[0], end: series.times_s.at(-1) };
  strip.show(events, range);
  showAttributions(document.getElementById("attributions"), series.attributions, range, player);
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
  showSeries(player, plot, new StageStrip(document.getElementById("stage-strip"), player));
} else {
  followOthers();
}
