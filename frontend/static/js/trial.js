// A recorded trial: every camera on one playhead, joints and commands below it, events and remarks on the timeline.
import { AttributionPanel } from "./attribution.js";
import { JointPlot, numberedNames } from "./live_plot.js";
import { Stretch } from "./series.js";
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
  const note = document.getElementById("series-note");
  note.textContent = "Reading the joints…";
  const answer = await fetch(root.dataset.series);
  const series = await answer.json();
  note.textContent = answer.ok ? "" : `No joints: ${series.detail}`;
  if (!answer.ok) return;
  player.setRecorded([{ duration: series.duration_s }]);
  const stretch = new Stretch(series.times_s[0], series.times_s.at(-1));
  plot.stretch = stretch;
  strip.show(events, stretch);
  new AttributionPanel(document.getElementById("attributions"), player).show(series.attributions, stretch);
  offerStretches(stretch, player);
  plot.setNames(series.names.length ? series.names : numberedNames(series.state.length));
  plot.show({ times: series.times_s, lines: series.state, dashed: series.action, marks: player.marks.map((mark) => mark.time) });
  plot.redraw();
}

// A long recording is read a part at a time.
function offerStretches(stretch, player) {
  const picker = document.getElementById("stretch");
  const fitting = [...picker.options].filter((option) => Number(option.value) <= (stretch.end - stretch.start) / 2);
  picker.replaceChildren(...fitting);
  picker.closest("label").hidden = fitting.length < 2;
  picker.addEventListener("change", () => {
    stretch.seconds = Number(picker.value);
    player.showAgain();
  });
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
