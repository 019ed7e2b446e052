// How well two pictures agree, from small grey copies. Pure: arrays in, numbers out.
//
// Score: normalised cross-correlation r = Σ(a - ā)(b - b̄) / √(Σ(a - ā)² Σ(b - b̄)²), 1 for equal pictures up to
// brightness and contrast, 0 for unrelated ones. Over the whole picture the resting rig would hide a misplaced object,
// so where a picture of the empty rig is known, r is taken of what changed against it: standardised picture minus
// standardised rig. The shift that raises r most says where things went.
export const SIZE = 96; // pixels of the small copies, each way
export const MAX_SHIFT = 8; // pixels; 8 % of the picture

// Luma of RGBA bytes, one number a pixel.
export function grey(rgba) {
  const values = new Float32Array(rgba.length / 4);
  for (let i = 0; i < values.length; i += 1) values[i] = 0.299 * rgba[4 * i] + 0.587 * rgba[4 * i + 1] + 0.114 * rgba[4 * i + 2];
  return values;
}

// Zero mean, unit deviation; zeros for a picture without any contrast.
export function standardised(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return values.map((value) => (spread > 1e-6 ? (value - mean) / spread : 0));
}

// What is in a picture and not in the empty rig. Below `noise` deviations it is taken for camera noise.
export function change(values, rig, noise = 0.15) {
  const [one, other] = [standardised(values), standardised(rig)];
  return one.map((value, i) => (Math.abs(value - other[i]) > noise ? value - other[i] : 0));
}

// r of a(x, y) with b(x + dx, y + dy) over the pixels that both have; 0 when either is flat.
export function correlation(a, b, dx = 0, dy = 0, size = SIZE) {
  let [n, sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0, 0];
  for (let y = Math.max(0, -dy); y < Math.min(size, size - dy); y += 1) {
    for (let x = Math.max(0, -dx); x < Math.min(size, size - dx); x += 1) {
      const [p, q] = [a[y * size + x], b[(y + dy) * size + x + dx]];
      n += 1;
      sumA += p;
      sumB += q;
      sumAA += p * p;
      sumBB += q * q;
      sumAB += p * q;
    }
  }
  const variances = (sumAA - sumA ** 2 / n) * (sumBB - sumB ** 2 / n);
  return variances > 1e-9 ? (sumAB - (sumA * sumB) / n) / Math.sqrt(variances) : 0;
}

// The shift (dx right, dy down, in pixels) of b against a that correlates best, and its r.
export function bestShift(a, b, { max = MAX_SHIFT, size = SIZE } = {}) {
  let best = { dx: 0, dy: 0, r: correlation(a, b, 0, 0, size) };
  for (let dy = -max; dy <= max; dy += 1) {
    for (let dx = -max; dx <= max; dx += 1) {
      const r = correlation(a, b, dx, dy, size);
      if (r > best.r + 1e-6) best = { dx, dy, r };
    }
  }
  return best;
}

// How the live picture fits the reference: with the empty rig known, of what changed against it.
export function alignment(reference, live, rig) {
  const [a, b] = rig ? [change(reference, rig), change(live, rig)] : [reference, live];
  const score = Math.max(0, correlation(a, b));
  const best = bestShift(a, b);
  const shift = best.r > score + 0.05 ? best : { dx: 0, dy: 0, r: score };
  return { score, ...shift, of: rig ? "what was laid" : "the whole picture" };
}

export const toneOf = (score) => (score >= 0.9 ? "good" : score >= 0.7 ? "warn" : "bad");

const side = (share, [less, more]) => (Math.abs(share) < 0.005 ? "" : `${Math.round(100 * Math.abs(share))}% too far ${share > 0 ? more : less}`);

// Words for a shift in the picture, "" for none.
export function shiftWords({ dx, dy }, size = SIZE) {
  return [side(dx / size, ["left", "right"]), side(dy / size, ["up", "down"])].filter(Boolean).join(", ");
}

// r of the pixels that differ least, `share` of them: an object laid on the belt is no drift.
export function steadiness(rig, live, share = 0.9) {
  const [a, b] = [standardised(rig), standardised(live)];
  const differences = a.map((value, i) => Math.abs(value - b[i]));
  const limit = differences.toSorted()[Math.floor(share * (differences.length - 1))];
  const kept = Array.from(differences.keys()).filter((i) => differences[i] <= limit);
  const [keptA, keptB] = [a, b].map((values) => standardised(Float32Array.from(kept, (i) => values[i])));
  return Math.max(0, keptA.reduce((sum, value, i) => sum + value * keptB[i], 0) / kept.length);
}

// Whether the camera, or the rig before it, moved since its picture: a steady picture has no better place than its own.
export function drift(rig, live) {
  const unmoved = correlation(rig, live);
  const best = bestShift(rig, live, { max: 4 });
  const isMoved = best.r > unmoved + 0.02 && (best.dx !== 0 || best.dy !== 0);
  const score = steadiness(rig, live);
  return { ...best, score, isMoved, tone: isMoved || score < 0.75 ? "bad" : score < 0.9 ? "warn" : "good" };
}
