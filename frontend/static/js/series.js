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
