"use strict";
// The map of support: a table of operations and the values of one facet, drawn when it is first looked at.
const showMap = ({ support, backends }, make) => {
  const at = (id) => document.getElementById(id);
  const [facet, backend, map, section] = ["map-facet", "map-backend", "map", "support"].map(at);
  const number = (count) => count.toLocaleString("en");
  const countsOf = ([, ...counts]) => counts.map((count, index) => count && number(count) + " " + support.fates[index]).filter(Boolean).join(", ");
  const casesOf = ([, ...counts]) => counts.reduce((sum, count) => sum + count, 0);
  const countOf = (cell, fate) => cell[support.fates.indexOf(fate) + 1];
  // The text of a cell that has room for numbers.
  const numbersOf = (cell) => ({
    partly: countOf(cell, "right") + countOf(cell, "deviating") + "/" + casesOf(cell),
    wrong: support.marks.wrong + " " + number(countOf(cell, "wrong")),
  })[cell[0]] || support.marks[cell[0]];
  const linkOf = (cells, shown, name, wanted) => {
    const words = shown.filter((index) => cells[index]).map((index) => (shown.length > 1 ? backends[index].title + ": " : "")
      + cells[index][0] + " (" + countsOf(cells[index]) + ")");
    if (!words.length) return null;
    const place = (index) => "#cases?" + new URLSearchParams({ ...wanted, expect: "accept", ...(backends.length > 1 && index !== undefined && { backend: index }) });
    const single = shown.length === 1;
    const marks = shown.map((index) => make("span", { class: "state " + (cells[index] ? cells[index][0] : "none"), "data-backend": index, "aria-hidden": "true" },
      cells[index] ? (single ? numbersOf(cells[index]) : support.marks[cells[index][0]]) : ""));
    const link = make("a", { href: place(single ? shown[0] : undefined), title: name + "\n" + words.join("\n"), "aria-label": name + ": " + words.join("; "), tabindex: "-1" }, ...marks);
    // The mark of one backend leads to its cases, and the keyboard to those of all.
    link.addEventListener("click", ({ target, detail }) => {
      const mark = detail > 0 && target.closest("[data-backend]");
      link.href = place(mark ? mark.dataset.backend : single ? shown[0] : undefined);
    });
    return link;
  };
  const tableOf = (name) => {
    const { title, values, rows } = support.tables[name];
    const shown = backend.value === "" ? [...backends.keys()] : [Number(backend.value)];
    const heading = (text, count, scope) => make("th", { scope }, make("span", {}, text, " ", make("span", { class: "quiet" }, number(count))));
    const cell = (...of) => make("td", {}, linkOf(...of));
    const head = make("tr", {}, make("td", {}), make("th", { scope: "col" }, make("span", {}, "all")), ...values.map(([value, count]) => heading(value, count, "col")));
    const body = support.rows.map(([op, total], row) => make("tr", {},
      heading(op, Math.max(...total.map((cells) => (cells ? casesOf(cells) : 0))), "row"),
      cell(total, shown, op, { op }),
      ...rows[row].map((cells, column) => cell(cells, shown, op + ", " + title.toLowerCase() + " " + values[column][0], { op, [name]: values[column][0] }))));
    const table = make("table", { role: "grid", "data-facet": name }, make("caption", {}, title), make("thead", {}, head), make("tbody", {}, ...body));
    table.style.setProperty("--across", shown.length > 3 ? Math.ceil(Math.sqrt(shown.length)) : shown.length);
    table.classList.toggle("single", shown.length === 1);
    table.querySelector("a")?.setAttribute("tabindex", "0");
    return table;
  };
  // One cell is in the order of the tab key; the arrow keys move from cell to cell.
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  map.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const from = event.target.closest("td");
    if (!step || !from) return;
    event.preventDefault();
    const { rows } = from.closest("table");
    let cell = from;
    for (let row = from.parentElement.rowIndex, column = from.cellIndex; cell && (cell === from || !cell.querySelector("a"));) {
      row += step[0];
      column += step[1];
      cell = rows[row]?.cells[column];
    }
    if (!cell) return;
    event.target.tabIndex = -1;
    cell.querySelector("a").tabIndex = 0;
    cell.querySelector("a").focus();
  });
  const draw = () => section.open && map.replaceChildren(tableOf(facet.value));
  for (const field of [facet, backend]) field.addEventListener("input", draw);
  section.addEventListener("toggle", () => !map.firstChild && draw());
  addEventListener("beforeprint", () => map.replaceChildren(...Object.keys(support.tables).map(tableOf)));
  addEventListener("afterprint", draw);
  at("map-fields").hidden = false;
  draw();
};
