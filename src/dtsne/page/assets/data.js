// Out of the page: the header of JSON that Python wrote, and the arrays packed in it.

const TYPES = {
  u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array,
};

async function unpack(packed) {
  const text = atob(packed.data);
  let bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  if (packed.gzip) {
    if (!window.DecompressionStream) throw new Error("This browser is too old to unpack the map; update it.");
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }
  if (packed.dtype === "json") return JSON.parse(new TextDecoder().decode(bytes));
  return new TYPES[packed.dtype](bytes.buffer);
}

async function readColumn(header) {
  if (header.kind === "number") return { ...header, values: await unpack(header.values) };
  const [codes, categories] = await Promise.all([unpack(header.codes), unpack(header.categories)]);
  return { ...header, codes, categories };
}

async function readMap(header) {
  const [x, y] = await Promise.all([unpack(header.x), unpack(header.y)]);
  return { ...header, x, y };
}

async function readData() {
  const header = JSON.parse(document.getElementById("data").textContent);
  const [maps, columns, ids] = await Promise.all([
    Promise.all(header.maps.map(readMap)),
    Promise.all(header.columns.map(readColumn)),
    header.ids && unpack(header.ids),
  ]);
  return { ...header, maps, columns, ids, idOf: (i) => (ids ? ids[i] : String(i)) };
}

// What people read.

const MISSING = "missing";

function format(value) {
  if (Number.isNaN(value)) return MISSING;
  if (!Number.isFinite(value) || Number.isInteger(value)) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(3) : Number(value.toPrecision(4));
  return String(text).replace("-", "−");
}

/** A value of a column of numbers, which may be dates. */
function formatIn(column, value) {
  if (!column.date || !Number.isFinite(value)) return format(value);
  const text = new Date(value).toISOString();
  return column.date === "day" ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}

function textOf(column, i) {
  if (column.kind === "number") return formatIn(column, column.values[i]);
  return column.categories[column.codes[i]] ?? MISSING;
}

const counted = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

function make(tag, { text, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
}

const byId = (id) => document.getElementById(id);

function fillSelect(id, options, chosen) {
  byId(id).replaceChildren(...options.map(([value, text]) => make("option", { value, text })));
  byId(id).value = chosen;
}
