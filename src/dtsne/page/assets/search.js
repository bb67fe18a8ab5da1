// Points found by what is known of them.

const NUMBER = "[-−]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?";
const COMPARISON = new RegExp(`^\\s*(<=|>=|<|>|=|≤|≥)?\\s*(${NUMBER})\\s*$`);
const INTERVAL = new RegExp(`^\\s*(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})\\s*$`);
const COMPARE = {
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
  "≤": (a, b) => a <= b, "≥": (a, b) => a >= b, "=": (a, b) => format(a) === format(b),
};
const toNumber = (text) => Number(text.replace("−", "-"));

const where = (n, test) => {
  const points = [];
  for (let i = 0; i < n; i++) if (test(i)) points.push(i);
  return points;
};

function searchNumber(data, { values }, query) {
  const interval = INTERVAL.exec(query);
  if (interval) {
    const [low, high] = interval.slice(1).map(toNumber);
    return where(data.n, (i) => values[i] >= low && values[i] <= high);
  }
  const comparison = COMPARISON.exec(query);
  if (!comparison) return null;
  const compare = COMPARE[comparison[1] ?? "="];
  const value = toNumber(comparison[2]);
  return where(data.n, (i) => compare(values[i], value));
}

function searchTexts(data, columns, withIds, query, test) {
  const wanted = query.trim().toLowerCase();
  const codes = columns.map((column) => {
    const names = [...column.categories, MISSING];
    return Uint8Array.from(names, (name) => test(name.toLowerCase(), wanted));
  });
  return where(data.n, (i) =>
    (withIds && test(data.idOf(i).toLowerCase(), wanted)) ||
    columns.some((column, k) => codes[k][column.codes[i]]));
}

/** The points that match, those that equal the query before those that contain it; null: not understood. */
function search(data, query, scope) {
  if (!query.trim()) return [];
  const column = data.columns[scope];
  if (column?.kind === "number") return searchNumber(data, column, query);
  const columns = column ? [column] : scope === "id" ? [] : data.columns.filter((c) => c.kind === "category");
  const withIds = !column;
  const exact = searchTexts(data, columns, withIds, query, (a, b) => a === b);
  return exact.length ? exact : searchTexts(data, columns, withIds, query, (a, b) => a.includes(b));
}

function createSearch(data, filters, selection, say) {
  const scopes = data.columns.map((column, k) => [String(k), column.name]);
  fillSelect("scope", [["", "ids and categories"], ["id", "id"], ...scopes], "");
  byId("scope").onchange = () => {
    const number = data.columns[byId("scope").value]?.kind === "number";
    byId("search-help").textContent = number ? "A number, <3, >3, or from..to as in 0.2..0.5" : "";
  };
  byId("search").onsubmit = (event) => {
    event.preventDefault();
    const found = search(data, byId("query").value, byId("scope").value);
    if (!found) return say("That is no number: write 3, <3, >3 or 1..3");
    const points = filters.visible(found);
    const gone = found.length - points.length;
    selection.set(points);
    if (points.length === 1) selection.reveal(points[0]);
    return say(counted(points.length, "match", "matches") + (gone ? `, and ${gone} not shown` : ""));
  };
}
