// Pure tools for recorded series: values at other times, and two recordings on one clock.

// Values of a line at the times `at`, linear in between; null outside of what was recorded.
export function resample(times, values, at) {
  let index = 0;
  return at.map((time) => {
    if (!times.length || time < times[0] || time > times.at(-1)) return null;
    while (index < times.length - 2 && times[index + 1] < time) index += 1;
    while (index > 0 && times[index] > time) index -= 1;
    const [t0, t1] = [times[index], times[index + 1] ?? times[index]];
    const share = t1 > t0 ? (time - t0) / (t1 - t0) : 0;
    return values[index] + share * ((values[index + 1] ?? values[index]) - values[index]);
  });
}

// Where each recording's own clock stands at the common zero, so that both meet the event at one moment: the later
// event keeps its time, the other recording waits. {a: 0, b: -1.5} says that b starts 1.5 s after a.
export function offsetsAt(event) {
  if (!event) return { a: 0, b: 0 };
  const moment = Math.max(event.a_s, event.b_s);
  return { a: event.a_s - moment, b: event.b_s - moment };
}

// Both recordings' lines on one grid of common times.
export function together(a, b, offsets, count = 400) {
  const start = Math.min(...[a, b].map((series, i) => series.times_s[0] - offsets["ab"[i]]));
  const end = Math.max(...[a, b].map((series, i) => series.times_s.at(-1) - offsets["ab"[i]]));
  const times = Array.from({ length: count }, (_, i) => start + ((end - start) * i) / (count - 1));
  const lines = (series, offset) => series.state.map((line) => resample(series.times_s, line, times.map((time) => time + offset)));
  return { times, lines: lines(a, offsets.a), dashed: lines(b, offsets.b) };
}

// Which step holds at a time: the last that began before it; -1 before the first.
export function stepAt(times, time) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time + 1e-6) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Shares laid on each other: for each component the lower and upper edge at every step, null where one is unknown.
export function stacked(values) {
  const base = (values[0] ?? []).map(() => 0);
  return values.map((row) => {
    const lower = [...base];
    row.forEach((value, i) => {
      base[i] = value === null || base[i] === null ? null : base[i] + value;
    });
    return { lower: lower.map((value, i) => (base[i] === null ? null : value)), upper: [...base] };
  });
}

// At most `most` components: the largest by their mean stay, in their order; the others are added up as one.
export function folded(components, values, most = 8) {
  if (components.length <= most) return { components, values };
  const mean = (row) => row.reduce((sum, value) => sum + (value ?? 0), 0) / row.length;
  const kept = new Set(components.map((_, i) => i).toSorted((i, j) => mean(values[j]) - mean(values[i])).slice(0, most - 1));
  const rest = components.map((_, i) => i).filter((i) => !kept.has(i));
  const others = values[0].map((_, step) => rest.reduce((sum, i) => (sum === null || values[i][step] === null ? null : sum + values[i][step]), 0));
  const at = [...kept].toSorted((i, j) => i - j);
  return { components: [...at.map((i) => components[i]), `${rest.length} others`], values: [...at.map((i) => values[i]), others] };
}

// Stages as stretches of time: each lasts until the next one, the last until the end.
export function stretches(events, end) {
  const stages = events.filter((event) => event.kind === "stage" && event.time_s < end);
  return stages.map((stage, i) => ({ label: stage.label, from: stage.time_s, to: Math.max(stage.time_s, stages[i + 1]?.time_s ?? end) }));
}

// The stretch of time that plots show: the whole recording, or one page of `seconds` after the other, as the playhead goes.
export class Stretch {
  constructor(start, end, seconds = 0) {
    Object.assign(this, { start, end, seconds });
  }

  at(time) {
    const { start, end, seconds } = this;
    if (!seconds || seconds >= end - start) return { start, end };
    const page = Math.max(0, Math.floor((Math.min(time, end - 1e-6) - start) / seconds));
    return { start: start + page * seconds, end: start + (page + 1) * seconds };
  }
}
