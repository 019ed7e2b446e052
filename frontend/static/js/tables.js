// Tables marked `data-table`: sortable headers (th[data-sort]), a filter box and CSV export of the visible rows.
// A cell's data-value is what is sorted and exported, its text otherwise.

const cellValue = (row, index) => {
  const cell = row.cells[index];
  return cell ? (cell.dataset.value ?? cell.textContent.trim()) : "";
};

function compare(a, b) {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sortBy(table, header) {
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  const index = header.cellIndex;
  rows.sort((a, b) => compare(cellValue(a, index), cellValue(b, index)) * (descending ? -1 : 1));
  table.tBodies[0].append(...rows);
}

function filter(table, text, counter) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const content = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => content.includes(word));
    if (!row.hidden) shown += 1;
  }
  if (counter) counter.textContent = `${shown} of ${table.tBodies[0].rows.length}`;
}

const quoted = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

function toCsv(table) {
  const heads = [...table.tHead.rows[0].cells];
  const kept = heads.map((head, index) => index).filter((index) => !("noExport" in heads[index].dataset));
  const lines = [kept.map((index) => quoted(heads[index].textContent.trim()))];
  for (const row of table.tBodies[0].rows) {
    if (!row.hidden) lines.push(kept.map((index) => quoted(cellValue(row, index))));
  }
  return lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function enhance(root = document) {
  for (const table of root.querySelectorAll("table[data-table]:not([data-enhanced])")) {
    table.dataset.enhanced = "";
    for (const header of table.tHead.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sortBy(table, header));
      header.append(button);
    }
    const tools = document.querySelector(`[data-table-tools="${table.id}"]`);
    const counter = tools?.querySelector(".table-count");
    tools?.querySelector("input[type=search]")?.addEventListener("input", (event) => filter(table, event.target.value, counter));
    tools?.querySelector("[data-export-csv]")?.addEventListener("click", () => download(`${table.id}.csv`, toCsv(table)));
    if (counter) filter(table, "", counter);
  }
}

enhance();
document.addEventListener("htmx:load", (event) => enhance(event.target));
