"use strict";
const at = (id) => document.getElementById(id);

// The theme: that of the system until the reader chooses another.
const THEMES = ["system", "light", "dark"];
const button = at("theme");
const themed = (name) => {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  button.textContent = "Theme: " + name;
};
const remembered = () => {
  try { return localStorage.getItem("opconform-theme"); } catch { return null; }
};
let theme = THEMES.includes(remembered()) ? remembered() : "system";
themed(theme);
button.hidden = false;
button.addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  themed(theme);
  try { localStorage.setItem("opconform-theme", theme); } catch { /* then it is not remembered */ }
});

// The cases, of which there may be tens of thousands: they wait until the page is there, unless the address needs them.
const start = () => {
  const data = JSON.parse(at("cases-data").textContent);
  const STEP = 100;

  // Everything from the data goes into the page as text, never as markup.
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((each) => each !== undefined && each !== null));
    return element;
  };

  const cases = data.cases.map(([backend, id, profile, verdict, reason = "", reject = 0, requirements = [], broken = [], sentence = "",
    inputs = "", message = "", remarks = [], again = "", log = "", cause = "", failure = 0, change = ""]) => {
    const op = id.slice(0, id.indexOf("/"));
    const full = (name) => op + ":" + name;
    return { backend, id, op, title: data.titles[id.slice(0, id.lastIndexOf("/"))] || "", profile, verdict, reason, reject,
      requirements: requirements.map(full), broken: broken.map(full), sentence, inputs, message, remarks, again, log, cause, failure,
      change, text: undefined };
  });
  const several = data.backends.length > 1;
  let byPlace = null;
  const found = (place) => {
    byPlace = byPlace || new Map(cases.map((each) => [each.backend + "/" + each.id, each]));
    return byPlace.get(place);
  };
  const textOf = (each) => {
    if (each.text === undefined) {
      each.text = [each.id, each.title, each.inputs, each.sentence, each.cause, each.message, each.reason, each.remarks.join(" "),
        each.requirements.join(" ")].join("\n").toLowerCase();
    }
    return each.text;
  };

  // The filters.
  const form = at("filters");
  const fields = form.elements;
  const counted = (words) => {
    const counts = new Map();
    for (const word of words) if (word !== "") counts.set(word, (counts.get(word) || 0) + 1);
    return [...counts].sort((one, other) => (one[0] < other[0] ? -1 : 1));
  };
  const CHOICES = {
    backend: () => data.backends.map((each, number) => [String(number), each.title]),
    op: () => counted(cases.map((each) => each.op)),
    reason: () => counted(cases.map((each) => each.reason)),
    requirement: () => counted(cases.flatMap((each) => each.requirements)),
    profile: () => counted(cases.map((each) => each.profile)),
    remark: () => counted(cases.flatMap((each) => each.remarks.map((word) => word.split(" ", 1)[0]))),
    change: () => counted(cases.map((each) => each.change)),
  };
  for (const [name, choices] of Object.entries(CHOICES)) {
    const options = choices();
    fields[name].append(make("option", { value: "" }, "all"));
    for (const [value, count] of options) {
      const label = typeof count === "number" ? value + " (" + count.toLocaleString("en") + ")" : count;
      fields[name].append(make("option", { value }, label));
    }
    fields[name].closest("label").hidden = options.length < 2;
  }
  let wanted = null;  // the filter that only links set: the number of a card
  let shown = cases;
  let drawn = 0;

  const matches = () => {
    const value = (name) => fields[name].value;
    const words = value("q").toLowerCase().split(/\s+/).filter(Boolean);
    const [backend, op, verdict, reason, requirement, profile, remark, change] =
      ["backend", "op", "verdict", "reason", "requirement", "profile", "remark", "change"].map(value);
    return cases.filter((each) =>
      (backend === "" || String(each.backend) === backend) &&
      (op === "" || each.op === op) &&
      (verdict === "" || each.verdict === verdict) &&
      (reason === "" || each.reason === reason) &&
      (profile === "" || each.profile === profile) &&
      (change === "" || each.change === change) &&
      (wanted === null || String(each.failure) === wanted) &&
      (requirement === "" || each.requirements.includes(requirement)) &&
      (remark === "" || each.remarks.some((word) => word.split(" ", 1)[0] === remark)) &&
      words.every((word) => textOf(each).includes(word)));
  };
  const sentence = (each) => each.sentence || (each.message && "rejected: " + each.message) || "";
  const rowOf = (each) => make("li", {},
    make("span", { class: "word " + each.verdict }, each.verdict + (each.reason ? ": " + each.reason : "")),
    make("a", { href: "#case/" + each.backend + "/" + each.id }, each.id),
    make("span", { class: "what" },
      [several ? data.backends[each.backend].title : "", each.title, each.inputs, sentence(each)].filter(Boolean).join(" · ")));
  const rows = at("rows");
  const more = at("more");
  const drawMore = () => {
    const part = document.createDocumentFragment();
    for (const each of shown.slice(drawn, drawn + STEP)) part.append(rowOf(each));
    rows.append(part);
    drawn = Math.min(shown.length, drawn + STEP);
    more.hidden = drawn === shown.length;
    more.textContent = "Show more (" + (shown.length - drawn).toLocaleString("en") + " left)";
  };
  const list = () => {
    shown = matches();
    rows.replaceChildren();
    drawn = 0;
    drawMore();
    const only = wanted === null ? "" : " of the failure " + (at("failure-" + wanted)?.querySelector("h3").textContent || wanted);
    at("found").textContent =
      shown.length.toLocaleString("en") + " of " + cases.length.toLocaleString("en") + " cases" + only;
  };
  // Rows are added while the reader scrolls. The button does the same, and moves the focus to the first new row.
  more.addEventListener("click", () => {
    const next = drawn;
    drawMore();
    rows.children[next]?.querySelector("a").focus();
  });
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting) && document.activeElement !== more && !more.hidden) drawMore();
  }, { rootMargin: "600px" }).observe(more);

  const query = () => {
    const asked = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...asked]) if (value === "") asked.delete(name);
    return asked.toString();
  };
  const show = (name) => {
    at("overview").hidden = name !== "overview";
    at("case").hidden = name !== "case";
  };
  const changed = () => {
    wanted = null;
    history.replaceState(null, "", "#cases" + (query() ? "?" + query() : ""));
    at("unknown").textContent = "";
    show("overview");
    list();
    at("list").scrollIntoView();
  };
  addEventListener("input", (event) => { if (event.target.form === form) changed(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));

  // One case.
  let evidence = null;
  const evidenceOf = (place) => {
    evidence = evidence || JSON.parse(at("evidence-data").textContent);
    return evidence[place];
  };
  const region = (label, ...children) => make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, ...children);
  const tensor = (part, label) => {
    const rowsOf = part.rows || [];
    const caption = (label ? label + ": " : "") + part.name + " " + part.kind + (part.where ? ", " + part.name + part.where : "");
    if (rowsOf.length === 0) return make("p", {}, make("b", {}, caption), " has no elements.");
    const [top, left] = part.at || [0, 0];
    const outputs = part.outputs || [];
    const across = part.along === "columns";
    const differs = new Map((part.differs || []).map(([row, column, bits]) => [row + "," + column, bits]));
    const isFirst = (row, column) => part.first && part.first[0] === row && part.first[1] === column;
    const shade = (number) => (outputs[number] === undefined ? "" : outputs[number] % 2 ? "b" : "a");
    const cut = (number) => number > 0 && outputs[number] !== undefined && outputs[number] !== outputs[number - 1];
    // The number of rows or columns from one on that belong to the same output.
    const extent = (start) => {
      let end = start;
      while (end < outputs.length && outputs[end] === outputs[start]) end += 1;
      return end - start;
    };
    const heading = (start, span, scope) =>
      make("th", { class: "output " + shade(start), [span]: String(extent(start)), scope }, "output_" + outputs[start]);
    const columns = rowsOf[0].map((_, column) => column);
    const head = make("thead", {});
    if (across && outputs.length) {
      head.append(make("tr", {}, make("td", {}),
        ...columns.filter((column) => column === 0 || cut(column)).map((column) => heading(column, "colspan", "colgroup"))));
    }
    head.append(make("tr", {}, make("td", {}), ...columns.map((column) => make("th", { scope: "col" }, String(left + column)))));
    const body = make("tbody", {});
    rowsOf.forEach((line, row) => {
      const mine = make("tr", { class: !across && cut(row) ? "cut" : undefined },
        make("th", { scope: "row" }, String(top + row)));
      line.forEach((text, column) => {
        const bits = differs.get(row + "," + column);
        const first = isFirst(row, column);
        const names = [shade(across ? column : row), across && cut(column) ? "cut" : "", bits !== undefined ? "differs" : "", first ? "first" : ""];
        mine.append(make("td", { class: names.filter(Boolean).join(" ") || undefined, title: bits },
          text, first || bits !== undefined ? make("span", { class: "visually-hidden" }, first ? (bits === undefined ? " (here)" : " (first difference)") : " (differs)") : null));
      });
      if (part.along === "rows" && outputs.length && (row === 0 || cut(row))) mine.append(heading(row, "rowspan", "rowgroup"));
      body.append(mine);
    });
    const [height, width] = part.size;
    const rest = [];
    if (height > rowsOf.length) rest.push("rows " + top + " to " + (top + rowsOf.length - 1) + " of " + height.toLocaleString("en"));
    if (width > columns.length) rest.push("columns " + left + " to " + (left + columns.length - 1) + " of " + width.toLocaleString("en"));
    return make("div", {}, make("table", { class: "grid" }, make("caption", {}, caption), head, body),
      rest.length ? make("p", { class: "quiet" }, "Shown: " + rest.join(", ") + ".") : null, bitsOf(part));
  };
  const bitsOf = (part) => {
    const found = part.first && (part.differs || []).find(([row, column]) => row === part.first[0] && column === part.first[1]);
    return found && found[2] ? make("p", { class: "bits" }, "Bits of the first differing element: ", make("code", {}, found[2])) : null;
  };
  // The outputs as bars over the dimension of the input that they divide.
  const bars = (sizes, label) => {
    if (!sizes) return null;
    const whole = Math.max(1, sizes.size, ...sizes.outputs.map(([, start, size]) => start + size));
    const lane = (name, start, size, kind) => {
      const bar = make("span", { class: "bar-part " + kind }, name + ": " + size.toLocaleString("en"));
      bar.style.setProperty("--from", start / whole);
      bar.style.setProperty("--size", size / whole);
      return make("li", {}, bar);
    };
    const lanes = sizes.outputs.map(([name, start, size]) =>
      lane(name, start, size, size === 0 ? "none" : start + size > sizes.size ? "over" : ""));
    return make("div", { class: "over-dimension" }, make("p", {}, label + ", along dimension " + sizes.axis + ":"),
      make("ul", { class: "lanes" }, lane("input", 0, sizes.size, "whole"), ...lanes));
  };
  // Expected and actual side by side in one box, so that they scroll together; all columns have the same width.
  const feedOf = (feed, several, number) => {
    const pairs = feed.pairs || [];
    const texts = pairs.flat().filter(Boolean).flatMap((part) => (part.rows || []).flat());
    const single = pairs.every(([wanted]) => !wanted);
    const cell = Math.max(2, ...texts.map((text) => text.length));
    const columns = Math.max(1, ...pairs.flat().filter((part) => part && part.rows).map((part) => part.rows[0].length));
    const sides = make("div", { class: single || columns * (cell + 2) > 64 ? "pairs single" : "pairs" });
    sides.style.setProperty("--cell", cell + "ch");
    for (const [wanted, got] of pairs) {
      if (!single) sides.append(wanted ? tensor(wanted, "Expected") : make("div", {}));
      sides.append(got ? tensor(got, "Actual") : make("p", { class: "quiet" }, "The actual output was not kept."));
    }
    const title = "Feed " + feed.number + (feed.number ? ": a further inference on the model already built" : ": the first inference");
    return make("section", { class: "feed" }, several ? make("h2", {}, title + (number ? "" : ", where the fault is")) : null,
      bars(feed.got, "Actual outputs"), bars(feed.wanted, "Expected outputs"),
      pairs.length ? region("Expected and actual" + (several ? ", feed " + feed.number : ""), sides) : null,
      feed.data ? make("details", { open: !pairs.length }, make("summary", {}, "Input " + feed.data.name),
        region("Input" + (several ? " of feed " + feed.number : ""), tensor(feed.data, ""))) : null);
  };
  const command = (text) => {
    const copy = make("button", { type: "button" }, "Copy");
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); copy.textContent = "Copied"; } catch { copy.textContent = "Not allowed"; }
    });
    return make("div", { class: "copy" }, make("pre", {}, text), copy);
  };
  // A requirement as the overview states it, with its clause and our reading.
  const linked = (name) => make("a", { class: "tag", href: "#" + encodeURIComponent(name) }, name);
  const stated = (name) => make("div", {}, linked(name), at(name)?.querySelector(".statement")?.cloneNode(true));
  const row = (name, ...value) => make("div", {}, make("dt", {}, name), make("dd", {}, ...value));

  const drawCase = (each) => {
    const place = each.backend + "/" + each.id;
    const seen = evidenceOf(place) || {};
    const backend = data.backends[each.backend];
    const article = at("case");
    const position = shown.indexOf(each);
    const step = (other, word) => (other ? make("a", { href: "#case/" + other.backend + "/" + other.id }, word) : null);
    const others = data.backends.map((_, number) => found(number + "/" + each.id)).filter((other) => other && other !== each);
    const expected = seen.expected || (each.reject ? "It is rejected." : "It is accepted, with the golden outputs.");
    const came = sentence(each) || (each.reject ? "It was rejected." : "The golden outputs, bit for bit.");
    const broken = each.broken.length ? each.broken : each.verdict === "pass" ? [] : each.requirements;
    const feeds = seen.feeds || [];
    article.replaceChildren(
      make("nav", { class: "steps", "aria-label": "Cases" }, make("a", { href: "#cases" + (query() ? "?" + query() : "") }, "← All cases"),
        step(position > 0 ? shown[position - 1] : null, "Previous"), step(position >= 0 ? shown[position + 1] : null, "Next"),
        position >= 0 ? make("span", { class: "quiet" }, (position + 1).toLocaleString("en") + " of " + shown.length.toLocaleString("en")) : null),
      make("h1", { id: "case-title", tabindex: "-1" }, came.replace(/^[a-z](?=[a-z]*[ ,:])/, (letter) => letter.toUpperCase())),
      make("p", { class: "quiet" }, make("span", { class: "word " + each.verdict }, each.verdict + (each.reason ? ": " + each.reason : "")),
        " · ", make("code", {}, each.id), " on " + backend.title + (each.title ? " · " + each.title : "")),
      make("dl", {},
        each.cause ? row("Likely cause", make("b", {}, each.cause)) : null,
        each.inputs ? row("Given", make("code", {}, each.inputs)) : null,
        row("Expected", expected)),
      ...feeds.map((feed, number) => feedOf(feed, feeds.length > 1, number)),
      make("h2", {}, "Specification"),
      make("dl", {},
        broken.length ? row(each.broken.length ? "Breaks" : "Tests", ...broken.map(stated)) : null,
        broken === each.requirements ? null : row("Tests", ...each.requirements.flatMap((name) => [linked(name), " "])),
        row("Profile", each.profile),
        each.remarks.length ? row("Remarks", each.remarks.join(", ")) : null,
        seen.twin ? row("The same case without the fault", found(each.backend + "/" + seen.twin)
          ? make("a", { href: "#case/" + each.backend + "/" + seen.twin }, seen.twin) : seen.twin) : null,
        seen.seen ? row("Reported before", make("ul", { class: "links" }, ...seen.seen.map(([name, url]) =>
          make("li", {}, make("a", { href: url, rel: "noreferrer" }, name))))) : null,
        each.failure ? row("Fail alike", make("a", { href: "#cases?failure=" + each.failure }, "cases with the same requirement, reason and likely cause")) : null,
        others.length ? row("Elsewhere", make("ul", { class: "links" }, ...others.map((other) => make("li", {},
          make("a", { href: "#case/" + other.backend + "/" + other.id }, data.backends[other.backend].title + ": " + other.verdict))))) : null,
        each.again ? row("Run again", each.again) : null));
    if (seen.inputs) article.append(make("h2", {}, "Inputs"), make("ul", {}, ...seen.inputs.map((text) => make("li", {}, make("code", {}, text)))));
    if (each.log) article.append(make("h2", {}, "Log of the harness"), region("Log of the harness", make("pre", {}, each.log)));
    if (seen.models) {
      article.append(make("h2", {}, "IR"));
      for (const [name, text] of seen.models) article.append(make("h3", {}, name), make("pre", { tabindex: "0", role: "region", "aria-label": name }, text));
    }
    article.append(make("h2", {}, "Reproduce"),
      command("opconform run " + backend.place + " " + (backend.started || "--backend NAME") + " --select " + each.id
        + " --out again/" + each.id.split("/").pop()),
      command("opconform show " + each.id + (backend.place === "SUITE" ? "" : " --suite " + backend.place)));
    if (backend.script && each.verdict === "fail") {
      const suite = backend.place === "SUITE" ? "" : " --suite " + backend.place;
      article.append(make("p", { class: "quiet" }, "A script for the backend's issue tracker that does not need opconform:"),
        command("opconform repro " + each.id + " " + backend.script + suite + " --out repro.py"));
    }
    if (!seen.inputs) {
      const why = backend.place === "SUITE"
        ? "The suite was not found when this report was written, so the report has no tensors and no IR. Write it again with opconform report OUT --suite SUITE."
        : "This report has the tensors and the IR of failures, as far as there is room. The second command displays the tensors of this case.";
      article.append(make("p", { class: "quiet" }, why));
    } else if (!feeds.length) article.append(make("p", { class: "quiet" }, "The tensors are too large to be drawn here."));
    document.title = each.id;
  };

  // The current place: `#case/BACKEND/ID`, `#cases?FILTERS`, or a part of the overview.
  const title = document.title;
  const decoded = (text) => {
    try { return decodeURIComponent(text); } catch { return text; }
  };
  const route = () => {
    const hash = location.hash.slice(1);
    const each = hash.startsWith("case/") ? found(hash.slice(5)) : undefined;
    const part = at(decoded(hash));
    const isList = hash === "cases" || hash.startsWith("cases?");
    const isKnown = hash === "" || each !== undefined || isList || (part !== null && at("main").contains(part));
    at("unknown").textContent = isKnown ? "" : hash.startsWith("case/") ? "This report has no case " + hash.slice(5) + "." : "This report has no part #" + decoded(hash) + ".";
    show(each === undefined ? "overview" : "case");
    document.title = title;
    if (each !== undefined) {
      drawCase(each);
      scrollTo(0, 0);
      at("case-title").focus({ preventScroll: true });
    } else if (isList) {
      const asked = new URLSearchParams(hash.slice(6));
      for (const name of ["q", "verdict", ...Object.keys(CHOICES)]) fields[name].value = asked.get(name) || "";
      wanted = asked.get("failure");
      list();
      at("list").scrollIntoView();
    } else if (isKnown && hash !== "") {
      part.closest("details:not([open])")?.setAttribute("open", "");
      part.scrollIntoView();
      if (part.tabIndex === -1) part.focus({ preventScroll: true });
    } else scrollTo(0, 0);
  };
  addEventListener("hashchange", route);
  list();
  if (location.hash) route();
};
if (location.hash) start();
else addEventListener("load", () => setTimeout(start));
