// One run, live: state, log and curves come over the socket; a lost connection is taken up again, and a message that
// was lost is made up for by asking now and then.
import { drawCurve } from "./curve.js";

const id = document.querySelector("script[data-run]").dataset.run;
const log = document.getElementById("run-log");
const KEPT_LINES = 1000;
const ASK_EVERY_MS = 15_000;
const curves = new Map();
let lastSeq = Number(log.lastElementChild?.dataset.seq ?? 0);
let status = document.querySelector("#run-status .pill").textContent.trim();
let isActive = true;
let pause = 500;

const TONES = { succeeded: "good", running: "active", failed: "bad", lost: "bad", cancelled: "warn" };

function showState(run) {
  const pill = document.querySelector("#run-status .pill");
  pill.className = `pill ${TONES[run.status] ?? ""}`;
  pill.textContent = run.status;
  const bar = document.getElementById("run-bar");
  const tone = run.status === "succeeded" ? "good" : run.is_active ? (run.total ? "" : "unknown") : "bad";
  bar.className = `progress ${tone}`;
  bar.setAttribute("aria-valuenow", Math.round(run.percent ?? 0));
  bar.firstElementChild.style.width = tone === "unknown" ? "" : `${run.percent ?? 0}%`;
  document.getElementById("run-progress").textContent = run.total ? `${run.done} of ${run.total} ${run.unit}` : "";
  const error = document.getElementById("run-error");
  error.hidden = !run.error;
  if (run.error && !error.textContent.includes(run.error)) error.querySelector("span").textContent = run.error;
  document.getElementById("run-cancel")?.toggleAttribute("hidden", !run.is_active);
  document.getElementById("run-retry")?.toggleAttribute("hidden", run.is_active || run.status === "succeeded");
  if (status !== run.status && !run.is_active && run.status === "succeeded") location.reload();
  status = run.status;
  isActive = run.is_active;
}

function addLines(events) {
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  for (const event of events) {
    if (event.seq <= lastSeq) continue;
    lastSeq = event.seq;
    const line = document.createElement("li");
    line.className = event.level;
    line.dataset.seq = event.seq;
    const time = document.createElement("time");
    time.dateTime = event.at;
    time.textContent = event.at.slice(11, 19);
    const text = document.createElement("span");
    text.textContent = event.message;
    line.append(time, text);
    log.append(line);
  }
  while (log.children.length > KEPT_LINES) log.firstElementChild.remove();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

function addMetrics(metrics) {
  if (metrics.length === 0) return;
  const card = document.getElementById("run-metrics");
  card.hidden = false;
  const changed = new Set();
  for (const { name, step, value, flag } of metrics) {
    if (!curves.has(name)) {
      const figure = document.createElement("figure");
      card.querySelector(".card-body").append(figure);
      curves.set(name, { figure, points: new Map() });
    }
    curves.get(name).points.set(step, { step, value, flag });
    changed.add(name);
  }
  for (const name of changed) {
    const { figure, points } = curves.get(name);
    drawCurve(figure, name, [...points.values()].sort((a, b) => a.step - b.step));
  }
}

function show({ run, events = [], metrics = [] }) {
  showState(run);
  addLines(events);
  addMetrics(metrics);
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${id}/`);
  socket.addEventListener("open", () => (pause = 500));
  socket.addEventListener("message", (message) => show(JSON.parse(message.data)));
  socket.addEventListener("close", (event) => {
    if (event.code >= 4000) return;
    setTimeout(connect, pause);
    pause = Math.min(10_000, pause * 2);
  });
}

const snapshotOf = (page) => JSON.parse(page.getElementById("run-snapshot").textContent);

async function ask() {
  if (!isActive || document.visibilityState !== "visible") return;
  const answer = await fetch(location.pathname).catch(() => null);
  if (answer?.ok) show(snapshotOf(new DOMParser().parseFromString(await answer.text(), "text/html")));
}

show(snapshotOf(document));
log.scrollTop = log.scrollHeight;
connect();
setInterval(ask, ASK_EVERY_MS);
