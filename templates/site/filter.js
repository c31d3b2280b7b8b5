"use strict";
// Hides the rows that lack a word of the filter box, and the sections that have no row left.
const field = document.getElementById("filter");
if (field) {
  const rows = [...document.querySelectorAll(field.dataset.rows)];
  const choose = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    for (const section of document.querySelectorAll("[data-section]")) {
      section.hidden = words.length > 0 && !section.querySelector(".group:not([hidden])");
    }
  };
  field.hidden = false;
  field.addEventListener("input", choose);
  choose();
}
