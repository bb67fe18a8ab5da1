// What is known of one point, of many, and of the map. All of it is written as text.

const MOST_FIELDS = 12; // in the tooltip; a click shows all
const LONGEST_NAME = 20; // of a category, in a table

function rowsOf(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) list.append(make("dt", { text: name }), make("dd", { text: value }));
  return list;
}

/** The column that says of the map shown what this one says of another, if there is one. */
function counterpart(data, column) {
  if (!column.map || column.map === data.shown) return column;
  return data.columns.find(({ base, map }) => base === column.base && map === data.shown);
}

/** The columns of the data and of the map shown, and those that are known of another map alone. */
function columnsShown(data) {
  return data.columns.filter((column) => {
    const own = counterpart(data, column);
    return !own || own === column;
  });
}

function pointDetails(data, i, most = Infinity) {
  const columns = columnsShown(data);
  const fields = columns.slice(0, most).map((column) => [column.name, textOf(column, i)]);
  const parts = [make("div", { className: "name", text: data.idOf(i) }), rowsOf(fields)];
  if (columns.length > most) {
    parts.push(make("small", { text: `… ${columns.length - most} more: click the point` }));
  }
  return parts;
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
  const name = column.categories[code] ?? MISSING;
  const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
  return `${short} (${Math.round((100 * count) / points.length)} %)`;
}

/** A column summed up over some points: the median of numbers, the commonest category. */
function summary(column, points) {
  if (column.kind === "category") return commonest(column, points);
  return formatIn(column, median(points.map((i) => column.values[i])));
}

function selectionSummary(data, points) {
  const everyone = Array.from({ length: data.n }, (_, i) => i);
  const head = make("tr", {}, make("th", { text: "median, or commonest" }), make("th", { text: "selected" }), make("th", { text: "all" }));
  const body = make("tbody");
  for (const column of columnsShown(data)) {
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
    tooltip.replaceChildren(...pointDetails(data, i, MOST_FIELDS));
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

/** The report on the map shown, or else that of another, which is said. */
function showReport(data, map) {
  const owner = map.report ? map : data.maps.find(({ report }) => report);
  const { rows, notes } = owner?.report ?? { rows: [], notes: [] };
  const all = [...notes, ...data.notes];
  byId("report").hidden = !rows.length && !data.report.length && !all.length;
  byId("report-title").textContent = `Report on ${owner && data.maps.length > 1 ? owner.name : "the map"}`;
  byId("report-other").hidden = !owner || owner === map;
  byId("report-other").textContent = owner ? `${map.name} is shown; this report is on ${owner.name}.` : "";
  byId("report-rows").replaceChildren(rowsOf([...rows, ...data.report]));
  byId("notes").replaceChildren(...all.map((text) => make("p", { text })));
}
