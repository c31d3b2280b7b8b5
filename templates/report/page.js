const at = (id) => document.getElementById(id);

// The theme: that of the system until the reader chooses another.
const THEMES = ["system", "light", "dark"];
const button = at("theme");
const themed = (name) => {
  document.documentElement.dataset.theme = name;
  button.textContent = "Theme: " + name;
};
let theme = null;
try { theme = localStorage.getItem("opconform-theme"); } catch { /* then it was not remembered */ }
if (!THEMES.includes(theme)) theme = "system";
themed(theme);
button.hidden = false;
button.addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  themed(theme);
  try { localStorage.setItem("opconform-theme", theme); } catch { /* then it is not remembered */ }
});

// "/" moves the focus to the search, as long as no field has it. What is typed while the page loads is a search as well.
const form = at("filters");
const fields = form.elements;
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  fields.q.focus();
});
let isTyped = false;
let onFilter = () => { isTyped = true; };
addEventListener("input", (event) => { if (event.target.form === form) onFilter(); });
form.addEventListener("submit", (event) => event.preventDefault());

// Parts of the page that are made when they are unfolded. Without JavaScript, and on paper, they are there at once.
const fill = (details) => {
  for (const part of details.querySelectorAll(":scope > noscript.deferred")) {
    part.replaceWith(...new DOMParser().parseFromString(part.textContent, "text/html").body.childNodes);
  }
};
const unfold = (element) => {
  for (let details = element.closest("details"); details; details = details.parentElement.closest("details")) {
    fill(details);
    details.open = true;
  }
};
const partOf = (id) => {
  const isIn = (part) => part.textContent.includes('id="' + id + '"');
  const holder = !at(id) && [...document.querySelectorAll("noscript.deferred")].find(isIn);
  if (holder) fill(holder.parentElement);
  return at(id);
};
addEventListener("toggle", ({ target }) => { if (target.open) fill(target); }, true);
addEventListener("beforeprint", () => document.querySelectorAll("noscript.deferred").forEach((part) => fill(part.parentElement)));

// The data of the page: compressed JSON in base64.
const unpacked = async (id) => {
  const text = atob(at(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};

// The buttons beside commands.
document.addEventListener("click", async ({ target: copy }) => {
  if (!copy.matches(".copy button")) return;
  try { await navigator.clipboard.writeText(copy.previousElementSibling.textContent); copy.textContent = "Copied"; } catch { copy.textContent = "Not allowed"; }
});

const start = async () => {
  const data = await unpacked("cases-data");
  const cases = data.cases;
  for (const entry of cases) {
    entry.requirements = data.requirements[entry.requirements];
    entry.expect ??= "accept";
    Object.assign(entry, data.facets[entry.facets]);
  }

  // An element; empty children are left out. Everything from the data goes into the page as text, never as markup.
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child || child === 0));
    return element;
  };

  const placeOf = (entry) => entry.backend + "/" + entry.id;
  const linkTo = (entry, text) => make("a", { href: "#case/" + placeOf(entry) }, text);
  const found = (place) => cases.find((entry) => placeOf(entry) === place);
  const titleOf = (entry) => {
    const title = data.titles[entry.id.slice(0, entry.id.lastIndexOf("/"))] || "";
    return entry.violation ? "the same case without the violation (" + title + ")" : title;
  };
  const textOf = (entry) => (entry.text ??= [entry.id, titleOf(entry), entry.inputs, entry.sentence, entry.cause, entry.message,
    entry.reason, entry.remarks, entry.requirements].join("\n").toLowerCase());

  // The filters: most compare a property of the case with the value in the form.
  const FILTERS = {
    q: (entry, value) => value.toLowerCase().split(/\s+/).every((word) => textOf(entry).includes(word)),
    op: (entry, value) => entry.id.startsWith(value + "/"),
    requirement: (entry, value) => entry.requirements.includes(value),
    remark: (entry, value) => (entry.remarks || []).includes(value),
    failure: (entry, value) => (entry.failures || []).includes(Number(value)),
  };
  const asked = () => [...new FormData(form)].filter(([, value]) => value !== "");
  const address = () => {
    const query = new URLSearchParams(asked()).toString();
    return "#cases" + (query ? "?" + query : "");
  };
  const sentence = (entry) => entry.sentence || (entry.message && "rejected: " + entry.message) || "";
  const stand = (entry) => make("span", { class: "word " + entry.verdict }, entry.verdict + (entry.reason ? ": " + entry.reason : ""));
  const rowOf = (entry) => make("li", {}, stand(entry), linkTo(entry, entry.id), make("span", { class: "what" },
    [data.backends.length > 1 ? data.backends[entry.backend].title : "", titleOf(entry), entry.inputs, sentence(entry)].filter(Boolean).join(" · ")));
  const rows = at("rows");
  const more = at("more");
  let shown = cases;
  const drawMore = () => {
    const drawn = rows.children.length;
    rows.append(...shown.slice(drawn, drawn + 50).map(rowOf));
    const left = shown.length - rows.children.length;
    more.hidden = left === 0;
    more.textContent = "Show more (" + left.toLocaleString("en") + " left)";
  };
  const list = () => {
    const filters = asked();
    shown = cases.filter((entry) => filters.every(([name, value]) =>
      (name in FILTERS ? FILTERS[name](entry, value) : String(entry[name]) === value)));
    rows.replaceChildren();
    drawMore();
    const card = fields.failure.value;
    at("found").textContent = shown.length.toLocaleString("en") + " of " + cases.length.toLocaleString("en") + " cases"
      + (card && " of finding " + (at("failure-" + card)?.querySelector("h3").textContent || card));
  };
  // Rows are added while the reader scrolls. The button does the same, and moves the focus to the first new row.
  more.addEventListener("click", () => {
    const next = rows.children.length;
    drawMore();
    rows.children[next]?.querySelector("a").focus();
  });
  new IntersectionObserver((seen) => {
    if (seen.some((observed) => observed.isIntersecting) && document.activeElement !== more && !more.hidden) drawMore();
  }, { rootMargin: "600px" }).observe(more);

  const show = (name) => {
    at("overview").hidden = name !== "overview";
    at("case").hidden = name !== "case";
  };
  const changed = () => {
    fields.failure.value = "";
    history.replaceState(null, "", address());
    route();
  };
  onFilter = changed;
  form.addEventListener("reset", () => setTimeout(changed));

  // The findings of one operation.
  const chosen = at("index-operation");
  if (chosen) {
    chosen.hidden = false;
    const choose = () => {
      const op = chosen.querySelector("select").value;
      for (const element of document.querySelectorAll("[data-operations]")) {
        element.hidden = op !== "" && !element.dataset.operations.split(" ").includes(op);
      }
      if (op !== "") at("other-findings")?.setAttribute("open", "");
    };
    chosen.addEventListener("input", choose);
    choose();
  }

  if (data.support) showMap(data, make);

  // One case.
  let evidence = null;
  const region = (label, ...children) => make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, ...children);
  const tensor = (part, label) => {
    const caption = (label ? label + ": " : "") + part.name + " " + part.kind + (part.where ? ", " + part.name + part.where : "");
    if (!part.rows) return make("p", {}, make("b", {}, caption), " has no elements.");
    const { at: [top, left], size: [height, width], outputs = [], marked = [], first = [], mark } = part;
    const across = part.along === "columns";
    const bitsAt = new Map(marked.map(([row, column, bits]) => [row + "," + column, bits]));
    const shade = (number) => ["a", "b"][[...new Set(outputs)].indexOf(outputs[number]) % 2] || "";
    const cut = (number) => number > 0 && outputs[number] !== outputs[number - 1];
    const heading = (start, span, scope) => make("th",
      { class: "output " + shade(start), [span]: outputs.filter((output) => output === outputs[start]).length, scope }, outputs[start]);
    const cell = (text, row, column) => {
      const bits = bitsAt.get(row + "," + column);
      const isFirst = row === first[0] && column === first[1];
      const names = [shade(across ? column : row), across && cut(column) && "cut", bits !== undefined && "differs", isFirst && "first"];
      const note = bits === undefined ? (isFirst ? "here" : "") : isFirst ? "the first that " + mark : mark;
      return make("td", { class: names.filter(Boolean).join(" ") || undefined, title: bits },
        text, note ? make("span", { class: "visually-hidden" }, " (" + note + ")") : null);
    };
    const columns = [...part.rows[0].keys()];
    const head = make("thead", {});
    if (across && outputs.length) {
      head.append(make("tr", {}, make("td", {}),
        ...columns.filter((column) => column === 0 || cut(column)).map((column) => heading(column, "colspan", "colgroup"))));
    }
    head.append(make("tr", {}, make("td", {}), ...columns.map((column) => make("th", { scope: "col" }, left + column))));
    const body = part.rows.map((line, row) => make("tr", { class: !across && cut(row) && "cut" },
      make("th", { scope: "row" }, top + row), ...line.map((text, column) => cell(text, row, column)),
      part.along === "rows" && outputs.length && (row === 0 || cut(row)) ? heading(row, "rowspan", "rowgroup") : null));
    const range = (name, start, count, whole) => (whole > count
      ? [name + " " + start + " to " + (start + count - 1) + " of " + whole.toLocaleString("en")] : []);
    const rest = [...range("rows", top, part.rows.length, height), ...range("columns", left, columns.length, width)];
    const bits = bitsAt.get(first.join());
    return make("div", {}, make("table", { class: "grid" }, make("caption", {}, caption), head, make("tbody", {}, ...body)),
      rest.length ? make("p", { class: "quiet" }, "Shown: " + rest.join(", ") + ".") : null,
      bits ? make("p", { class: "bits" }, "Bits of the first element that " + mark + ": ", make("code", {}, bits.split(",")[0])) : null);
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
    return make("section", { class: "feed" }, several && make("h2", {}, title + (number ? "" : ", which shows the failure")),
      bars(feed.got, "Actual outputs"), bars(feed.wanted, "Expected outputs"),
      pairs.length > 0 && region("Expected and actual" + (several ? ", feed " + feed.number : ""), sides),
      feed.data && make("details", { open: !pairs.length }, make("summary", {}, "Input " + feed.data.name, feed.origin && ": " + feed.origin),
        region("Input" + (several ? " of feed " + feed.number : ""), tensor(feed.data, ""))));
  };
  const command = (text) => make("div", { class: "copy" }, make("pre", {}, text), make("button", { type: "button" }, "Copy"));
  // A requirement as the overview states it, with its clause and our reading.
  const linked = (name) => make("a", { class: "tag", href: "#" + encodeURIComponent(name) }, name);
  const stated = (name) => make("div", {}, linked(name), partOf(name)?.querySelector(".statement")?.cloneNode(true));
  const row = (name, ...value) => make("div", {}, make("dt", {}, name), make("dd", {}, ...value));

  const drawCase = (entry, seen) => {
    const backend = data.backends[entry.backend];
    const article = at("case");
    const position = shown.indexOf(entry);
    const step = (other, word) => other && linkTo(other, word);
    const others = data.backends.map((_, number) => found(number + "/" + entry.id)).filter((other) => other && other !== entry);
    const rejected = entry.expect === "reject";
    const expected = seen.expected || (rejected ? "It is rejected." : "It is accepted, with the golden outputs.");
    const right = entry.error === undefined ? "The golden outputs, bit for bit." : "Right outputs; the largest error is " + entry.error + " of its bound.";
    const came = sentence(entry) || (rejected ? "It was rejected." : right);
    const broken = entry.broken || (entry.verdict === "pass" ? [] : entry.requirements);
    const twin = (name, id) => id && row(name, step(found(entry.backend + "/" + id), id) || id);
    const { feeds = [] } = seen;
    article.replaceChildren(
      make("nav", { class: "steps", "aria-label": "Cases" }, make("a", { href: address() }, "← All cases"),
        step(shown[position - 1], "Previous"), step(position >= 0 && shown[position + 1], "Next"),
        position >= 0 && make("span", { class: "quiet" }, (position + 1).toLocaleString("en") + " of " + shown.length.toLocaleString("en"))),
      make("h1", { id: "case-title", tabindex: "-1" }, came.replace(/^[a-z](?=[a-z]*[ ,:])/, (letter) => letter.toUpperCase())),
      make("dl", {},
        entry.cause && row("Likely cause", make("b", {}, entry.cause)),
        entry.condition && row("When", entry.condition),
        entry.inputs && row("Given", make("code", {}, entry.inputs)),
        row("Expected", expected)),
      make("p", { class: "quiet" }, stand(entry), " · ", make("code", {}, entry.id),
        " on " + [backend.title, titleOf(entry)].filter(Boolean).join(" · ")),
      ...feeds.map((feed, number) => feedOf(feed, feeds.length > 1, number)),
      make("h2", {}, "Specification"),
      make("dl", {},
        broken.length > 0 && row(entry.broken ? "Breaks" : "Tests", ...broken.map(stated)),
        broken !== entry.requirements && row("Tests", ...entry.requirements.flatMap((name) => [linked(name), " "])),
        row("Profile", entry.profile),
        ...(entry.remarks || []).map((name) => row("Remark", name + ": " + data.remarks[name] + (name === "other-reason" ? ": " + entry.other : ""))),
        twin("The same case without the violation", entry.twin),
        twin("The case with the violation", entry.violation),
        seen.seen && row("Reported before", make("ul", { class: "links" }, ...seen.seen.map(([name, url]) =>
          make("li", {}, make("a", { href: url, rel: "noreferrer" }, name))))),
        entry.failures && row("Findings", make("ul", { class: "links" }, ...entry.failures.map((number) =>
          make("li", {}, make("a", { href: "#cases?failure=" + number }, "cases of finding " + number))))),
        others.length > 0 && row("Elsewhere", make("ul", { class: "links" }, ...others.map((other) =>
          make("li", {}, linkTo(other, data.backends[other.backend].title + ": " + other.verdict))))),
        entry.again && row("Run again", entry.again)));
    if (seen.inputs) article.append(make("h2", {}, "Inputs"), make("ul", {}, ...seen.inputs.map((text) => make("li", {}, make("code", {}, text)))));
    if (entry.log) article.append(make("h2", {}, "Log of the harness"), region("Log of the harness", make("pre", {}, entry.log)));
    if (seen.models) article.append(make("h2", {}, "IR"), ...seen.models.flatMap(([name, text]) =>
      [make("h3", {}, name), make("pre", { tabindex: "0", role: "region", "aria-label": name }, text)]));
    const suite = backend.place === "SUITE" ? "" : " --suite " + backend.place;
    article.append(make("h2", {}, "Reproduce"),
      command("opconform run " + backend.place + " " + (backend.started || "--backend NAME") + " --select " + entry.id
        + " --out again/" + entry.id.split("/").pop()),
      command("opconform show " + entry.id + suite));
    if (backend.script && entry.verdict === "fail") {
      article.append(make("p", { class: "quiet" }, "A script for the backend's issue tracker that does not need opconform:"),
        command("opconform repro " + entry.id + " " + backend.script + suite + " --out repro.py"));
    }
    const why = seen.inputs ? (feeds.length ? "" : "The tensors are too large to be drawn here.") : suite === ""
      ? "The suite was not found when this report was written, so the report has no tensors and no IR. Write it again with opconform report OUT --suite SUITE."
      : "This report includes the tensors and the IR of failures up to a size limit. The second command displays the tensors of this case.";
    if (why) article.append(make("p", { class: "quiet" }, why));
    document.title = entry.id;
  };

  // The current place: `#case/BACKEND/ID`, `#cases?FILTERS`, or a part of the overview.
  const title = document.title;
  const decoded = (text) => {
    try { return decodeURIComponent(text); } catch { return text; }
  };
  const route = async () => {
    const hash = location.hash.slice(1);
    const entry = hash.startsWith("case/") ? found(hash.slice(5)) : undefined;
    const part = partOf(decoded(hash));
    const isList = hash === "cases" || hash.startsWith("cases?");
    const isKnown = hash === "" || entry !== undefined || isList || (part !== null && at("main").contains(part));
    at("unknown").textContent = isKnown ? "" : hash.startsWith("case/") ? "This report has no case " + hash.slice(5) + "." : "This report has no part #" + decoded(hash) + ".";
    document.title = title;
    if (entry !== undefined) {
      evidence ??= unpacked("evidence-data");
      const seen = await evidence;
      if (location.hash.slice(1) !== hash) return;
      drawCase(entry, seen[placeOf(entry)] || {});
      show("case");
      scrollTo(0, 0);
      at("case-title").focus({ preventScroll: true });
      return;
    }
    show("overview");
    if (isList) {
      unfold(at("list"));
      const wanted = new URLSearchParams(hash.slice(6));
      for (const name of new Set([...fields].map((field) => field.name).filter(Boolean))) fields[name].value = wanted.get(name) || "";
      list();
      const facets = at("facets");
      if ([...facets?.querySelectorAll("select") || []].some((field) => field.value)) facets.open = true;
      at("list").scrollIntoView();
    } else if (isKnown && hash !== "") {
      unfold(part);
      part.hidden = false; // a finding of an operation that is not chosen
      part.scrollIntoView();
      const target = part.matches("details") ? part.querySelector("summary") : part;
      if (target !== part || part.tabIndex === -1) target.focus({ preventScroll: true });
    } else scrollTo(0, 0);
  };
  addEventListener("hashchange", route);
  if (isTyped) changed();
  else {
    if (!location.hash.startsWith("#cases")) list();
    if (location.hash) route();
  }
};
addEventListener("DOMContentLoaded", start);
