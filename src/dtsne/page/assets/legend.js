// The legend of the column that gives the colours. It filters: categories by click, numbers by range.

const FEW = 10; // categories, of which one sees how many there are

/** A row: a group's colour, name and number, a click hides or shows it; and a button for it alone. */
function legendRow(column, group, { name, full, count, colour }, filters, changed) {
  const swatch = make("span", { className: "swatch" });
  swatch.style.background = colour;
  swatch.style.borderColor = colour;
  const toggle = make(
    "button",
    { type: "button", className: "toggle", title: `${full}: click to hide or show, Shift-click to show it alone` },
    swatch,
    make("span", { className: "text", text: name }),
    make("span", { className: "count", text: count.toLocaleString("en") }),
  );
  toggle.setAttribute("aria-pressed", String(!filters.isHidden(column, group)));
  const only = make("button", { type: "button", className: "only", title: "Show it alone; again, and all are shown" });
  only.setAttribute("aria-label", `Show ${full} alone`);
  const isolate = () => filters.isolate(column, group);
  toggle.onclick = (event) => {
    if (event.shiftKey) isolate();
    else filters.toggle(column, group);
    changed();
  };
  only.onclick = () => {
    isolate();
    changed();
  };
  return make("li", {}, toggle, only);
}

function countGroups(column) {
  const counts = new Uint32Array(missingGroup(column) + 1);
  for (const group of groupsOf(column)) counts[group]++;
  return counts;
}

function categoryLegend(column, palette, filters, changed) {
  const counts = countGroups(column);
  const names = groupNames(column, column.listed);
  const list = make("ul");
  groupNames(column).forEach((full, group) => {
    const row = { name: names[group], full, count: counts[group], colour: palette[group] };
    if (counts[group]) list.append(legendRow(column, group, row, filters, changed));
  });
  const fade = () => list.classList.toggle("more", list.scrollTop + list.clientHeight < list.scrollHeight - 2);
  list.onscroll = fade;
  new ResizeObserver(fade).observe(list);
  if (column.categories.length <= FEW) return [list];
  return [make("small", { className: "total", text: counted(column.categories.length, "category", "categories") }), list];
}

function rangeInput(column, label, value, placeholder, apply) {
  const types = { day: "date", second: "datetime-local" };
  const input = make("input", { type: types[column.date] ?? "number", step: column.date === "day" ? "1" : "any" });
  if (!column.date) input.placeholder = format(placeholder);
  const chosen = Number.isFinite(value) ? value : column.date ? placeholder : NaN;
  if (Number.isFinite(chosen)) input.valueAsNumber = chosen;
  input.setAttribute("aria-label", `Show values ${label}`);
  input.onchange = () => apply(input.valueAsNumber);
  return input;
}

function rampParts(column, palette, filters, changed) {
  const [low, high] = column.domain;
  const [least, most] = column.range;
  const bar = make("div", { className: "bar" });
  bar.style.background = `linear-gradient(to right, ${palette.slice(0, STEPS).join(", ")})`;
  const ticks = [
    (least < low ? "≤ " : "") + formatIn(column, low),
    formatIn(column, (low + high) / 2),
    (most > high ? "≥ " : "") + formatIn(column, high),
  ];
  const range = filters.range(column);
  const apply = (k) => (value) => {
    range[k] = value;
    filters.setRange(column, ...range);
    changed();
  };
  return [
    bar,
    make("div", { className: "ticks" }, ...ticks.map((text) => make("span", { text }))),
    make("div", { className: "row range" },
      make("span", { text: "Show" }), rangeInput(column, "from", range[0], least, apply(0)),
      make("span", { text: "to" }), rangeInput(column, "up to", range[1], most, apply(1))),
  ];
}

function numberLegend(column, palette, filters, changed) {
  const group = missingGroup(column);
  const count = countGroups(column)[group];
  const parts = count < column.values.length ? rampParts(column, palette, filters, changed) : [];
  if (!count) return parts;
  const row = { name: MISSING, full: MISSING, count, colour: palette[group] };
  return [...parts, make("ul", {}, legendRow(column, group, row, filters, changed))];
}

function showLegend(column, palette, filters, changed) {
  const legend = byId("legend");
  if (!column) return legend.replaceChildren();
  // A click makes the legend anew: the list stays where it was scrolled to, the focus where it was.
  const scrolled = legend.querySelector("ul")?.scrollTop ?? 0;
  const controls = () => [...legend.querySelectorAll("button, input")];
  const focused = controls().indexOf(document.activeElement);
  const build = column.kind === "number" ? numberLegend : categoryLegend;
  legend.replaceChildren(...build(column, palette, filters, changed));
  if (legend.querySelector("ul")) legend.querySelector("ul").scrollTop = scrolled;
  if (focused >= 0) controls()[focused]?.focus();
}

/** Colours, legend and filters together: what paints all anew, and follows the map that is shown. */
function createLegend(data, plot, filters, selection, say) {
  const { n, columns } = data;
  const plain = new Uint16Array(n);
  const chosen = () => columns[byId("colour").value];
  const palette = () => paletteOf(chosen(), data.colours[document.documentElement.dataset.theme]);

  function paint() {
    const column = chosen();
    showLegend(column, palette(), filters, applyFilters);
    return plot.colour(column ? groupsOf(column) : plain, palette());
  }

  function applyFilters() {
    const shown = filters.shown();
    plot.filter(shown);
    selection.set(filters.visible(selection.points()));
    const count = shown?.length ?? n;
    byId("showing").hidden = !shown;
    byId("showing-text").textContent =
      `${count.toLocaleString("en")} of ${counted(n, "point")} shown, by ${filters.columns().join(", ")}`;
    say(`${counted(count, "point")} shown`);
    showLegend(chosen(), palette(), filters, applyFilters);
  }

  /** Where the colours are of another map, take those of the one shown, if it has them. */
  function follow() {
    const own = chosen() && counterpart(data, chosen());
    if (!own || own === chosen()) return;
    byId("colour").value = String(columns.indexOf(own));
    paint();
  }

  const options = columns.map((column, k) => [String(k), column.name]);
  fillSelect("colour", [...options, ["", "nothing"]], columns.length ? "0" : "");
  byId("colour").onchange = paint;
  byId("show-all").onclick = () => {
    filters.clear();
    applyFilters();
  };
  return { paint, follow };
}
