"use strict";
// Sort a leaderboard by a column: numbers highest first, texts from A on, the other way round at the second click.
function sortBy(table, header) {
  const headers = Array.from(header.parentElement.children);
  const column = headers.indexOf(header);
  const isNumber = header.dataset.kind === "number";
  const now = header.getAttribute("aria-sort");
  const first = isNumber ? "descending" : "ascending";
  const other = isNumber ? "ascending" : "descending";
  const order = now === first ? other : first;
  headers.forEach((one) => one.setAttribute("aria-sort", one === header ? order : "none"));
  const sign = order === "ascending" ? 1 : -1;
  const key = (row) => {
    const cell = row.children[column];
    if (!isNumber) return cell.textContent;
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  };
  const rows = Array.from(table.tBodies[0].rows).map((row, place) => ({ row, place, key: key(row) }));
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
    const difference = isNumber ? a.key - b.key : a.key.localeCompare(b.key);
    return sign * difference || a.place - b.place;
  });
  table.tBodies[0].append(...rows.map((one) => one.row));
}

document.querySelectorAll("table[data-sortable]").forEach((table) => {
  table.querySelectorAll("thead th").forEach((header) => {
    header.querySelector("button").addEventListener("click", () => sortBy(table, header));
  });
});

document.querySelectorAll("[data-filter]").forEach((button) => {
  button.addEventListener("click", () => {
    document.querySelectorAll("[data-filter]").forEach((one) => {
      one.setAttribute("aria-pressed", String(one === button));
    });
    const wanted = button.dataset.filter;
    document.querySelectorAll("tr[data-setting]").forEach((row) => {
      row.hidden = wanted !== "" && row.dataset.setting !== wanted;
    });
  });
});
