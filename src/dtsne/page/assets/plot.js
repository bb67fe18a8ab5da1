// The drawing: regl-scatterplot, asked in the terms of this page.

const LASSO = { light: "#0b62c4", dark: "#7db7ff" };
const ACCENT = { light: "#e4007f", dark: "#ff5fb5" }; // of what is selected; no category has it
const FEW_SELECTED = 100; // which are drawn much larger, or nobody would find them
const PADDING = 1.08;
const CLOSEST = 0.02; // how near to go to a single point: some of what is around it stays in view

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const defaultSize = (n) => Math.min(7, Math.max(1.6, 10 - 1.6 * Math.log10(n)));
const defaultOpacity = (n) => Math.min(0.9, Math.max(0.35, 1.5 - 0.2 * Math.log10(n)));

function checkWebGL() {
  const probe = document.createElement("canvas");
  if (probe.getContext("webgl")) return;
  throw new Error(
    "This map is drawn with WebGL, which this browser does not offer here. Turn on hardware " +
      "acceleration in its settings, or open the file in another browser.",
  );
}

// Points are drawn in a mixed order, or the last category would lie on top of all others.
function mixedOrder(n) {
  const order = Array.from({ length: n }, (_, i) => i);
  let seed = 12345;
  for (let i = n - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 2 ** 32) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function createLibrary(n, canvas) {
  checkWebGL();
  const mac = navigator.platform.startsWith("Mac");
  const library = ReglScatterplot.createScatterplot({
    canvas,
    width: "auto",
    height: "auto",
    colorBy: "valueA",
    pointSize: defaultSize(n),
    opacity: defaultOpacity(n),
    antiAliasing: 1,
    opacityInactiveScale: 0.35,
    lassoMinDelay: 8,
    lassoInitiator: false,
    actionKeyMap: { lasso: "shift", merge: mac ? "cmd" : "ctrl", remove: "alt" },
  });
  library.set({ pointOrder: mixedOrder(n) });
  return library;
}

/** What draws the rows (x, y, group) once they changed: only the newest, if they change faster. */
function createDrawing(library, rows) {
  let index = null; // finds points by place; while they move it is out of date, and nobody asks
  let wanted = null;
  let drawing = null;

  async function drawWanted() {
    while (wanted) {
      const { moved, moving } = wanted;
      wanted = null;
      const options = { preventFilterReset: true, zDataType: "categorical" };
      if (index && (moving || !moved)) options.spatialIndex = index;
      await library.draw(rows, options);
      index = library.get("spatialIndex");
    }
  }

  return ({ moved = false, moving = false }) => {
    wanted = { moved: moved || Boolean(wanted?.moved), moving };
    drawing ??= drawWanted().finally(() => { drawing = null; });
    return drawing;
  };
}

function boxAround(places) {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of places) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.min(bottom, y);
    top = Math.max(top, y);
  }
  return { x: (left + right) / 2, y: (bottom + top) / 2, width: right - left, height: top - bottom };
}

// All maps together, so that the slider leads to no map that is out of view.
function boxOfMaps({ n, maps, half }) {
  return boxAround((function* () {
    for (const { x, y } of maps) for (let i = 0; i < n; i++) yield [x[i] / half, y[i] / half];
  })());
}

function createCamera(library, canvas, rows, whole) {
  function look(x, y, distance, quick) {
    const transition = !quick && !calm();
    return library.zoomToLocation([x, y], distance, { transition, transitionDuration: 250 });
  }

  /** Show some points, or all of all maps. */
  function fit(points, { quick = false } = {}) {
    if (points && !points.length) return null;
    const box = points ? boxAround(points.map((i) => rows[i])) : whole;
    const { width, height } = canvas.getBoundingClientRect();
    const needed = Math.max(box.height / 2, (box.width / 2) * (height / width)) * PADDING;
    return look(box.x, box.y, Math.max(needed, CLOSEST), quick);
  }

  function zoom(factor) {
    return look(...library.get("cameraTarget"), library.get("cameraDistance") / factor);
  }

  function pan(right, up) {
    const [x, y] = library.get("cameraTarget");
    const distance = library.get("cameraDistance");
    return look(x + right * distance * 0.25, y + up * distance * 0.25, distance, true);
  }

  /** Zoom by a factor around a place on the canvas, and move that place by some pixels. */
  function pinch(factor, [x, y], [right, down]) {
    const { width, height } = canvas.getBoundingClientRect();
    const distance = library.get("cameraDistance");
    const unit = (2 * distance) / height;
    const [atX, atY] = library.get("cameraTarget");
    const [offX, offY] = [(x - width / 2) * unit, (height / 2 - y) * unit];
    const keep = 1 - 1 / factor;
    return look(atX + offX * keep - right * unit, atY + offY * keep + down * unit, distance / factor, true);
  }

  /** Bring a point into view, where it is not. */
  function reveal(i) {
    const [x, y] = library.getScreenPosition(i) ?? [-1, -1];
    const { width, height } = canvas.getBoundingClientRect();
    if (x > 0 && y > 0 && x < width && y < height) return null;
    return look(rows[i][0], rows[i][1], library.get("cameraDistance"), true);
  }

  return { fit, zoom, pan, pinch, reveal };
}

function createPlot(data, canvas) {
  const { n, maps, half, colours } = data;
  const rows = Array.from({ length: n }, () => [0, 0, 0]); // x, y, group
  const library = createLibrary(n, canvas);
  const draw = createDrawing(library, rows);
  let placed = false;
  let theme = "light";
  let painted = []; // the colours of the groups
  let selected = 0; // how many points

  function place(at, { moving = false } = {}) {
    const first = Math.floor(at);
    const [a, b] = [maps[first], maps[Math.min(first + 1, maps.length - 1)]];
    const t = at - first;
    for (let i = 0; i < n; i++) {
      rows[i][0] = (a.x[i] + t * (b.x[i] - a.x[i])) / half;
      rows[i][1] = (a.y[i] + t * (b.y[i] - a.y[i])) / half;
    }
    placed = true;
    return draw({ moved: true, moving });
  }

  function colour(groups, palette) {
    for (let i = 0; i < n; i++) rows[i][2] = groups[i];
    painted = palette;
    library.set({ pointColor: palette, pointColorHover: palette.map(() => ACCENT[theme]) });
    emphasise(selected);
    return placed ? draw({}) : null;
  }

  /** Draw selected points so that they are found: few of them large, and in a colour of their own. */
  function emphasise(count) {
    const few = count <= FEW_SELECTED;
    selected = count;
    library.set({
      pointSizeSelected: few ? 4 : 0.5,
      pointOutlineWidth: few ? 2 : 1,
      pointColorActive: painted.map((own) => (few ? ACCENT[theme] : own)),
    });
  }

  const quiet = { preventEvent: true };
  return {
    place, colour, emphasise,
    ...createCamera(library, canvas, rows, boxOfMaps(data)),
    filter: (points) => (points ? library.filter(points, quiet) : library.unfilter(quiet)),
    select: (points) => library.select(points.slice(), quiet),
    hover: (i) => library.hover(i, quiet),
    mode: (name) => library.set({ mouseMode: name === "lasso" ? "lasso" : "panZoom" }),
    theme: (name) => {
      theme = name; // those who change it have to paint anew
      library.set({ backgroundColor: colours[name].ground, lassoColor: LASSO[name] });
    },
    size: (factor) => library.set({ pointSize: defaultSize(n) * factor }),
    opacity: (value) => library.set({ opacity: value }),
    on: (event, handler) => library.subscribe(event, handler),
    screenPosition: (i) => library.getScreenPosition(i),
    pixelsPerUnit: () => canvas.getBoundingClientRect().height / 2 / library.get("cameraDistance") / half,
    supported: () => library.isSupported,
    surface: () => library.get("renderer").canvas,
  };
}
