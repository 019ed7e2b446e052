// Two trials on one playhead: videos side by side, joints of both in one plot, aligned at the start or at an event.
import { AttributionPanel } from "./attribution.js";
import { JointPlot, numberedNames } from "./live_plot.js";
import { Stretch, offsetsAt, together } from "./series.js";
import { StageStrip } from "./stage_strip.js";
import { TrialPlayer } from "./trial_player.js";

const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const root = byId("comparison");
const events = read("comparison-events");
const shared = read("shared-events");
const plot = new JointPlot(...["joint-plot", "joint-legend", "joint-group"].map(byId));
const series = {};

const offsets = () => offsetsAt(shared.find((event) => event.key === byId("align").value));
const player = new TrialPlayer(root, offsets());

const strips = Object.fromEntries(["a", "b"].map((side) => [side, new StageStrip(byId(`stages-${side}`), player, `${side.toUpperCase()} `)]));
const panels = Object.fromEntries(["a", "b"].map((side) => [side, new AttributionPanel(byId(`attributions-${side}`), player)]));

function marks() {
  const moved = offsets();
  return ["a", "b"].flatMap((side) =>
    events[side].map((event) => ({ time: event.time_s - moved[side], label: `${side.toUpperCase()} ${event.label}`, tone: `${event.kind} ${side}` })),
  );
}

function show() {
  player.align(offsets());
  player.showMarks(marks());
  const both = series.a && series.b ? together(series.a, series.b, offsets()) : null;
  const stretch = both ? new Stretch(both.times[0], both.times.at(-1)) : new Stretch(0, player.playhead.duration);
  for (const side of "ab") {
    strips[side].show(events[side], stretch, { offset: offsets()[side], duration: series[side]?.duration_s });
    panels[side].show(series[side]?.attributions ?? [], stretch, { offset: offsets()[side], prefix: `${side.toUpperCase()} ` });
  }
  if (!both) return;
  plot.show({ ...both, dashedLabel: "B (solid: A)", marks: marks().map((mark) => mark.time) });
  plot.redraw();
}

async function load(side) {
  const answer = await fetch(root.dataset[`${side}Series`]);
  if (answer.ok) {
    series[side] = await answer.json();
    player.setRecorded(["a", "b"].filter((one) => series[one]).map((one) => ({ side: one, duration: series[one].duration_s })));
  } else byId("series-note").textContent = `No joints of ${side.toUpperCase()}: ${(await answer.json()).detail}`;
}

byId("align").addEventListener("change", () => {
  const address = new URL(location.href);
  address.searchParams.set("align", byId("align").value);
  history.replaceState(history.state, "", address);
  show();
});
player.followPlot(plot);
show();
await Promise.all([load("a"), load("b")]);
if (series.a && series.b) plot.setNames(series.a.names.length ? series.a.names : numberedNames(series.a.state.length));
show();
