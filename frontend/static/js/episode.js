// The episode page: videos and curves on one playhead. `?t=1.5` starts there.
import { Curves } from "./curves.js";
import { Playhead } from "./playhead.js";

const root = document.getElementById("episode");
const get = (id) => document.getElementById(id);
const fps = Number(root.dataset.fps);
const playhead = new Playhead([...root.querySelectorAll("video")], Number(root.dataset.length), fps);
const [playIcon, pauseIcon] = ["play", "pause"].map((name) => get("play").querySelector("use").getAttribute("href").replace(/#.*/, `#${name}`));

playhead.onChange(({ time, row, playing }) => {
  get("scrub").value = row;
  get("clock").textContent = `${time.toFixed(2)} s · row ${row}`;
  get("play").querySelector("use").setAttribute("href", playing ? pauseIcon : playIcon);
});
get("play").addEventListener("click", () => playhead.toggle());
get("scrub").addEventListener("input", (event) => {
  const row = Number(event.target.value); // pausing tells the listeners, and one of them writes the slider
  playhead.pause();
  playhead.seek((row + 0.5) / fps);
});
get("rate").addEventListener("change", (event) => playhead.setRate(Number(event.target.value)));

document.addEventListener("keydown", (event) => {
  if (/^(INPUT|SELECT|TEXTAREA|BUTTON)$/.test(event.target.tagName) && event.target.type !== "range") return;
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
  if (event.key === " ") playhead.toggle();
  else if (event.key in steps) playhead.step(steps[event.key] * (event.shiftKey ? Math.round(fps) : 1));
  else if (link) link.click();
  else return;
  event.preventDefault();
});

for (const { element } of playhead.videos) {
  element.addEventListener("loadedmetadata", () => playhead.seek(playhead.time), { once: true });
}
playhead.seek(Number(new URLSearchParams(location.search).get("t")) || 0);

async function showCurves() {
  const response = await fetch(root.dataset.plots);
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const curves = new Curves(get("curves"), await response.json());
  get("group").replaceChildren(...[...curves.groups.keys()].map((group) => new Option(group, group)));
  get("group").addEventListener("change", (event) => curves.show(event.target.value));
  curves.show(get("group").value);
  curves.onSeek((time) => playhead.seek(time));
  playhead.onChange(({ time }) => curves.moveTo(time));
  document.addEventListener("themechange", () => curves.show(curves.group));
  addEventListener("resize", () => setTimeout(() => curves.moveTo(playhead.time), 150));
}

showCurves().catch((error) => {
  get("curves-error").textContent = `The curves cannot be shown: ${error.message}.`;
});
