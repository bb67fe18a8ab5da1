// Columns → groups of points (what the legend lists and filters) and the colour of each group.

// Petroff's ten colours, chosen to be told apart with and without colour vision deficiency
// (arXiv:2107.02270); the two greys come last.
const CATEGORIES = [
  "#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#92dadd", "#717581",
  "#94a4a2",
];
// No more than ten colours can be told apart: the next tens are darker and lighter.
const SHADES = [["#000000", 0], ["#000000", 0.4], ["#ffffff", 0.45], ["#000000", 0.65], ["#ffffff", 0.2]];
const FLAG = { no: "#94a4a2", yes: "#bd1f01" };
const VIRIDIS = [
  "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151",
  "#bddf26", "#fde725",
];
// Blue to red through a grey that is quiet on the ground: a residual of 0 is nothing to look at.
const DIVERGING = {
  light: ["#053061", "#2166ac", "#4393c3", "#92b9d2", "#c9ccce", "#dba28c", "#d6604d", "#b2182b", "#67001f"],
  dark: ["#9fd0f5", "#5fa8dc", "#3d83b8", "#3f6178", "#4a4f54", "#875549", "#c25d4b", "#ee7b66", "#ffb4a2"],
};
const MISSING_COLOUR = { light: "#c4c8cc", dark: "#4d545b" };
const OTHER_COLOUR = { light: "#a3a9b0", dark: "#6d757e" };
const STEPS = 255;

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

function mix(from, to, t) {
  const end = channels(to);
  const parts = channels(from).map((value, k) => Math.round(value + t * (end[k] - value)));
  return "#" + parts.map((value) => value.toString(16).padStart(2, "0")).join("");
}

function ramp(stops, steps) {
  return Array.from({ length: steps }, (_, i) => {
    const at = (i / (steps - 1)) * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    return mix(stops[k], stops[k + 1], at - k);
  });
}

/** The group of each point: a category (those beyond the coloured are one), or a step of the ramp. */
function groupsOf(column) {
  if (column.groups) return column.groups;
  const { kind, codes, values } = column;
  const groups = new Uint16Array(kind === "number" ? values.length : codes.length);
  if (kind === "number") {
    const [low, high] = column.domain;
    for (let i = 0; i < groups.length; i++) {
      const t = Math.min(1, Math.max(0, (values[i] - low) / (high - low)));
      groups[i] = Number.isNaN(values[i]) ? STEPS : Math.round(t * (STEPS - 1));
    }
  } else {
    const names = groupNames(column);
    for (let i = 0; i < groups.length; i++) {
      const missing = codes[i] === column.categories.length;
      groups[i] = missing ? names.length - 1 : Math.min(codes[i], column.coloured);
    }
  }
  column.groups = groups;
  return groups;
}

/** The names of a category's groups; the last one is that of missing values. */
function groupNames(column) {
  const rest = column.categories.length - column.coloured;
  const names = column.categories.slice(0, column.coloured);
  if (rest > 0) names.push(`other (${rest} categories)`);
  return [...names, MISSING];
}

function paletteOf(column, theme) {
  if (column.kind === "number") {
    const stops = column.diverging ? DIVERGING[theme] : VIRIDIS;
    return [...ramp(stops, STEPS), MISSING_COLOUR[theme]];
  }
  const shown = column.categories.slice(0, column.coloured);
  const palette = shown.map((name, k) => {
    if (column.flag) return FLAG[name];
    const [shade, amount] = SHADES[Math.floor(k / CATEGORIES.length) % SHADES.length];
    return mix(CATEGORIES[k % CATEGORIES.length], shade, amount);
  });
  if (column.categories.length > column.coloured) palette.push(OTHER_COLOUR[theme]);
  return [...palette, MISSING_COLOUR[theme]];
}
