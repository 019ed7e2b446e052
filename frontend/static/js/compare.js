// "Only what differs" hides the lines that are the same in both worlds.
const toggle = document.getElementById("only-differing");
const apply = () => {
  for (const row of document.querySelectorAll("#comparison tr[data-same]")) row.hidden = toggle.checked;
};
toggle?.addEventListener("change", apply);
