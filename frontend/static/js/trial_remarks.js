// Notes and flags beside a player: the moment of a new one is the playhead's, and each one's moment is a link to it.
const byId = (id) => document.getElementById(id);
const isTyping = (target) => /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.type !== "range";

export function remarkMarks() {
  return [...document.querySelectorAll("#remarks [data-time]")].map((element) => ({
    time: Number(element.dataset.time),
    label: element.dataset.label,
    tone: element.dataset.kind,
  }));
}

export function followRemarks(player, onChange) {
  if (!byId("remarks")) return;
  const showMoment = () => {
    const isAt = byId("remark-at")?.checked;
    byId("remark-time").value = isAt ? player.frameTime.toFixed(2) : "";
    byId("remark-moment").textContent = `at ${player.frameTime.toFixed(2)} s`;
  };
  player.onChange(() => byId("remark-time") && showMoment());
  document.addEventListener("change", (event) => event.target.id === "remark-at" && showMoment());
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#remarks a[data-time]"); // htmx replaces #remarks: listen above it
    if (!link) return;
    event.preventDefault();
    player.goTo(Number(link.dataset.time));
  });
  document.addEventListener("htmx:afterSettle", () => {
    showMoment();
    onChange();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "n" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    player.playhead.pause();
    byId("remark-at").checked = true;
    showMoment();
    byId("remark-text").focus();
  });
}
