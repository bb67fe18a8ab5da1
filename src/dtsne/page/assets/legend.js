// The legend of the column that gives the colours. It filters: categories by click, numbers by range.

function categoryLegend(column, palette, filters, changed) {
  const groups = groupsOf(column);
  const names = groupNames(column);
  const counts = new Uint32Array(names.length);
  for (const group of groups) counts[group]++;
  const list = make("ul");
  names.forEach((name, group) => {
    if (!counts[group]) return;
    const swatch = make("span", { className: "swatch" });
    swatch.style.background = palette[group];
    swatch.style.borderColor = palette[group];
    const button = make(
      "button",
      { type: "button", title: `${name}: click to hide or show, Shift-click to show it alone` },
      swatch,
      make("span", { className: "text", text: name }),
      make("span", { className: "count", text: counts[group].toLocaleString("en") }),
    );
    button.setAttribute("aria-pressed", String(!filters.isHidden(column, group)));
    button.onclick = (event) => {
      if (event.shiftKey) filters.isolate(column, group);
      else filters.toggle(column, group);
      changed();
    };
    list.append(make("li", {}, button));
  });
  return [list];
}

function rangeInput(label, value, placeholder, apply) {
  const input = make("input", { type: "number", step: "any", placeholder: format(placeholder) });
  if (Number.isFinite(value)) input.value = value;
  input.setAttribute("aria-label", `Show values ${label}`);
  input.onchange = () => apply(input.value === "" ? NaN : Number(input.value));
  return input;
}

function numberLegend(column, palette, filters, changed) {
  const [low, high] = column.domain;
  const [least, most] = column.range;
  const bar = make("div", { className: "bar" });
  bar.style.background = `linear-gradient(to right, ${palette.slice(0, STEPS).join(", ")})`;
  const ticks = [
    (least < low ? "≤ " : "") + format(low),
    format((low + high) / 2),
    (most > high ? "≥ " : "") + format(high),
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
      make("label", { text: "Show" }), rangeInput("from", range[0], least, apply(0)),
      make("label", { text: "to" }), rangeInput("up to", range[1], most, apply(1))),
  ];
}

function showLegend(column, palette, filters, changed) {
  const legend = byId("legend");
  if (!column) return legend.replaceChildren();
  // A click makes the legend anew: the list stays where it was scrolled to, the focus where it was.
  const scrolled = legend.querySelector("ul")?.scrollTop ?? 0;
  const controls = () => [...legend.querySelectorAll("button, input")];
  const focused = controls().indexOf(document.activeElement);
  const make_ = column.kind === "number" ? numberLegend : categoryLegend;
  legend.replaceChildren(...make_(column, palette, filters, changed));
  if (legend.querySelector("ul")) legend.querySelector("ul").scrollTop = scrolled;
  if (focused >= 0) controls()[focused]?.focus();
}

/** Colours, legend and filters together; gives the function that paints all anew. */
function createLegend(data, plot, filters, selection, say) {
  const { n, columns } = data;
  const plain = new Uint16Array(n);
  const theme = () => document.documentElement.dataset.theme;
  const chosen = () => columns[byId("colour").value];
  const palette = () => (chosen() ? paletteOf(chosen(), theme()) : [CATEGORIES[0], MISSING_COLOUR[theme()]]);

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

  const options = columns.map((column, k) => [String(k), column.name]);
  fillSelect("colour", [...options, ["", "nothing"]], columns.length ? "0" : "");
  byId("colour").onchange = paint;
  byId("show-all").onclick = () => {
    filters.clear();
    applyFilters();
  };
  return paint;
}
