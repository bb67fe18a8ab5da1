// Columns → groups of points (what the legend lists and filters) and the colour of each group. The
// colours themselves, for a light and a dark ground, come from Python.

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
  const missing = missingGroup(column);
  if (kind === "number") {
    const [low, high] = column.domain;
    for (let i = 0; i < groups.length; i++) {
      const t = Math.min(1, Math.max(0, (values[i] - low) / (high - low)));
      groups[i] = Number.isNaN(values[i]) ? missing : Math.round(t * (STEPS - 1));
    }
  } else {
    for (let i = 0; i < groups.length; i++) {
      groups[i] = codes[i] === column.categories.length ? missing : Math.min(codes[i], column.coloured);
    }
  }
  column.groups = groups;
  return groups;
}

/** The group of missing values, the last one. */
function missingGroup(column) {
  return column.kind === "number" ? STEPS : groupNames(column).length - 1;
}

/** The names of a category's groups; the last one is that of missing values. */
function groupNames(column, names = column.categories) {
  const rest = column.categories.length - column.coloured;
  const listed = names.slice(0, column.coloured);
  if (rest > 0) listed.push(`other (${rest} categories)`);
  return [...listed, MISSING];
}

function paletteOf(column, colours) {
  if (!column) return [colours.single, colours.missing];
  if (column.kind === "number") {
    return [...ramp(column.diverging ? colours.diverging : colours.sequential, STEPS), colours.missing];
  }
  const shown = column.categories.slice(0, column.coloured);
  const palette = shown.map((name, k) => (column.flag ? colours.flag[name] : colours.categories[k]));
  if (column.categories.length > column.coloured) palette.push(colours.other);
  return [...palette, colours.missing];
}
