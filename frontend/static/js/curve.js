// One small line chart per metric, drawn as SVG from {step, value} points. A gap in the values is a gap in the line.
const WIDTH = 300;
const HEIGHT = 100;

export const short = (value) => (value === null ? "—" : Number(value.toPrecision(4)).toString());

const extent = (values) => [Math.min(...values), Math.max(...values)];

export function pathOf(points) {
  const numbers = points.filter((point) => point.value !== null);
  if (numbers.length === 0) return "";
  const [left, right] = extent(points.map((point) => point.step));
  const [low, high] = extent(numbers.map((point) => point.value));
  const x = (step) => (right === left ? WIDTH / 2 : (WIDTH * (step - left)) / (right - left));
  const y = (value) => (high === low ? HEIGHT / 2 : HEIGHT - (HEIGHT * (value - low)) / (high - low));
  let pen = "M";
  return points
    .map(({ step, value }) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const piece = `${pen}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return piece;
    })
    .join("");
}

export function drawCurve(figure, name, points) {
  const numbers = points.filter((point) => point.value !== null);
  const [low, high] = numbers.length ? extent(numbers.map((point) => point.value)) : [null, null];
  const last = points.at(-1);
  figure.className = "curve";
  figure.innerHTML = `<figcaption><strong></strong><span></span></figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"><line x1="0" y1="${HEIGHT}" x2="${WIDTH}" y2="${HEIGHT}"></line><path></path></svg>
    <div class="axis"><span></span><span></span></div>`;
  figure.querySelector("strong").textContent = name.replaceAll("_", " ");
  figure.querySelector("figcaption span").textContent = last.flag || short(last.value);
  figure.querySelector("svg").setAttribute("aria-label", `${name} from ${short(low)} to ${short(high)}`);
  figure.querySelector("path").setAttribute("d", pathOf(points));
  const [from, to] = figure.querySelectorAll(".axis span");
  from.textContent = `step ${points[0].step}`;
  to.textContent = `step ${last.step}, range ${short(low)} to ${short(high)}`;
}
