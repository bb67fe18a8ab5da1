// What is known of one point, of many, and of the map. All of it is written as text.

function rowsOf(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) list.append(make("dt", { text: name }), make("dd", { text: value }));
  return list;
}

function pointDetails(data, i) {
  const fields = data.columns.map((column) => [column.name, textOf(column, i)]);
  return [make("div", { className: "name", text: data.idOf(i) }), rowsOf(fields)];
}

function median(values) {
  const sorted = Float64Array.from(values).filter((value) => !Number.isNaN(value)).sort();
  if (!sorted.length) return NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function commonest(column, points) {
  const counts = new Map();
  for (const i of points) counts.set(column.codes[i], (counts.get(column.codes[i]) ?? 0) + 1);
  const [code, count] = [...counts].reduce((best, pair) => (pair[1] > best[1] ? pair : best));
  return `${column.categories[code] ?? MISSING} (${Math.round((100 * count) / points.length)} %)`;
}

/** A column summed up over some points: the median of numbers, the commonest category. */
function summary(column, points) {
  if (column.kind === "category") return commonest(column, points);
  return format(median(points.map((i) => column.values[i])));
}

function selectionSummary(data, points) {
  const everyone = Array.from({ length: data.n }, (_, i) => i);
  const head = make("tr", {}, make("th", { text: "median, or commonest" }), make("th", { text: "selected" }), make("th", { text: "all" }));
  const body = make("tbody");
  for (const column of data.columns) {
    column.overall ??= summary(column, everyone);
    const cells = [summary(column, points), column.overall].map((text) => make("td", { text, title: text }));
    body.append(make("tr", {}, make("th", { text: column.name }), ...cells));
  }
  return make("table", {}, make("thead", {}, head), body);
}

/** The tooltip: beside its point, on the side where there is room. */
function createTooltip(data, plot) {
  const tooltip = byId("tooltip");
  let shown = -1;

  function place() {
    if (tooltip.hidden) return;
    const [x, y] = plot.screenPosition(shown);
    const stage = byId("stage").getBoundingClientRect();
    const { width, height } = tooltip.getBoundingClientRect();
    const left = x + 14 + width < stage.width ? x + 14 : x - 14 - width;
    const top = Math.min(Math.max(y - height / 2, 4), stage.height - height - 4);
    tooltip.style.left = `${Math.max(4, left)}px`;
    tooltip.style.top = `${Math.max(4, top)}px`;
  }

  function show(i) {
    shown = i;
    tooltip.replaceChildren(...pointDetails(data, i));
    tooltip.hidden = false;
    place();
  }

  return { show, place, hide: () => { tooltip.hidden = true; } };
}

// 1, 2 or 5 times a power of ten, the largest that is not above the limit.
function roundBelow(limit) {
  const power = 10 ** Math.floor(Math.log10(limit));
  return power * [5, 2, 1].find((factor) => factor * power <= limit * (1 + 1e-9));
}

/** The scale bar: a length of the map, and what it is in the data where that is known. */
function showScale(pixelsPerUnit, unit) {
  const perUnit = unit ?? 1;
  const length = roundBelow((130 / pixelsPerUnit) * perUnit);
  byId("scale-bar").style.width = `${(length / perUnit) * pixelsPerUnit}px`;
  byId("scale-label").textContent = unit ? `${format(length)} in the data` : `${format(length)} map unit${length === 1 ? "" : "s"}`;
  byId("scale-note").textContent = unit
    ? `1 map unit is ${format(unit)} in the data`
    : "not tied to a distance in the data";
}

function showAccount(data) {
  byId("account").hidden = !data.account.length && !data.notes.length;
  byId("account-rows").replaceChildren(rowsOf(data.account));
  byId("notes").replaceChildren(...data.notes.map((text) => make("p", { text })));
}
