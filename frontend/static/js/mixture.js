// Shows what share of the training samples each weight comes to.
const rows = [...document.querySelectorAll("table.mixture tbody tr")];
const weightOf = (row) => Number(row.querySelector("input").value.replace(",", ".")) || 0;

function showShares() {
  const total = rows.reduce((sum, row) => sum + weightOf(row), 0);
  for (const row of rows) {
    const weight = weightOf(row);
    row.querySelector("[data-share]").textContent = weight > 0 ? `${((100 * weight) / total).toFixed(0)}%` : "";
  }
}

document.addEventListener("input", (event) => event.target.closest("table.mixture") && showShares());
showShares();
