// Mouse, buttons and keys that move the view.

function createModes(plot) {
  const modes = ["move", "lasso"];
  for (const mode of modes) {
    byId(mode).onclick = () => {
      plot.mode(mode);
      for (const other of modes) byId(other).setAttribute("aria-pressed", String(other === mode));
    };
  }
}

function createView(data, plot, filters, selection, drawScale) {
  const everyone = Array.from({ length: data.n }, (_, i) => i);
  const shown = () => filters.shown() ?? everyone;
  let follow = () => null; // what stays in view when the window changes: first all of all maps,
  const touching = (action) => () => {
    follow = null; // nothing once somebody has moved the view,
    action();
  };
  const fit = () => {
    follow = shown; // or the points shown, where they are
    plot.fit(shown());
  };
  const [closer, farther] = [1.5, 1 / 1.5].map((factor) => touching(() => plot.zoom(factor)));
  const go = (right, up) => touching(() => plot.pan(right, up));
  const keys = {
    ArrowLeft: go(-1, 0), ArrowRight: go(1, 0), ArrowUp: go(0, 1), ArrowDown: go(0, -1),
    "+": closer, "=": closer, "-": farther, 0: fit,
    n: () => selection.go(1), p: () => selection.go(-1),
  };

  byId("fit").onclick = fit;
  byId("zoom-in").onclick = closer;
  byId("zoom-out").onclick = farther;
  byId("zoom-selected").onclick = touching(() => plot.fit(selection.points()));
  for (const event of ["wheel", "pointerdown"]) {
    byId("plot").addEventListener(event, touching(() => {}), { passive: true });
  }
  byId("plot").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  new ResizeObserver(() => {
    if (follow) plot.fit(follow(), { quick: true });
    drawScale();
  }).observe(byId("plot"));
}

function createAppearance({ n }, plot, paint) {
  const root = document.documentElement;
  const setTheme = (name) => {
    root.dataset.theme = name;
    byId("theme").setAttribute("aria-pressed", String(name === "dark"));
    plot.theme(name);
    return paint();
  };
  byId("theme").onclick = () => setTheme(root.dataset.theme === "dark" ? "light" : "dark");
  byId("size").oninput = (event) => plot.size(2 ** Number(event.target.value));
  byId("opacity").value = defaultOpacity(n);
  byId("opacity").oninput = (event) => plot.opacity(Number(event.target.value));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
